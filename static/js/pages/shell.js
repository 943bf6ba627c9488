import { installAttention } from "../parts/attention.js";
import { installDialogs } from "../parts/dialogs.js";
import { installElapsed } from "../parts/elapsed.js";
import { installKeys } from "../parts/keys.js";
import { installTheme } from "../parts/theme.js";
import { installToasts } from "../parts/toasts.js";

installToasts();
installTheme();
installKeys();
installDialogs();
installElapsed();
installAttention();
