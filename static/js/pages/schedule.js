import "./form.js";
import { installWhen } from "../parts/when.js";

installWhen(document);
