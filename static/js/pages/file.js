import { installDialogs } from "../parts/dialogs.js";
import { installKeys } from "../parts/keys.js";
import "./trace.js";

installKeys();
installDialogs();
