import { Store } from "../lib/store";

/** What lies over the page: the palette, the dialog of a new agent, the list of keys, or nothing. */
export const overlay = new Store<"palette" | "new-agent" | "keys" | null>(null);

export const openPalette = (): void => overlay.set("palette");
export const openNewAgent = (): void => overlay.set("new-agent");
export const openKeys = (): void => overlay.set("keys");
export const closeOverlay = (): void => overlay.set(null);
