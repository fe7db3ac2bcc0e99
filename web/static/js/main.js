// What every page does: follow the feed, answer to keys, open sheets, keep preferences.
import "./keys.js";
import "./live.js";
import "./sheet.js";
import "./preferences.js";
