// What every page does: follow the feed, answer to keys, open sheets, keep preferences.
import "./forms.js";
import "./keys.js";
import "./live.js";
import "./preferences.js";
import "./sheet.js";

// On a phone the rail scrolls sideways; the page one is on shall be in sight.
document.querySelector(".rail [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
