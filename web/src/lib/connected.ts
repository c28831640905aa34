import { createContext } from "react";

/** Whether the daemon can be asked for something. */
export const Connected = createContext(true);
