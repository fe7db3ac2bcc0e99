// What every page does: follow the feed, answer to keys, open sheets, keep preferences.
import "./forms.js";
import "./keys.js";
import "./live.js";
import "./preferences.js";
import "./sheet.js";
