import { Store } from "../lib/store";

const KEY = "cw.desktopNotices";

/**
 * How desktop notifications for questions and crashes stand: on, off, asked for in vain
 * (denied), or not to be had in this browser.
 */
export type DesktopNotices = "on" | "off" | "denied" | "missing";

function look(): DesktopNotices {
  if (!("Notification" in globalThis)) return "missing";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && localStorage.getItem(KEY) === "on" ? "on" : "off";
}

export const desktopNotices = new Store<DesktopNotices>("off");
export const lookAtDesktopNotices = (): void => desktopNotices.set(look());

/** Switches them on. The browser asks the person, so it is to be called on a click alone. */
export async function switchOn(): Promise<void> {
  if (!("Notification" in globalThis)) return lookAtDesktopNotices();
  if ((await Notification.requestPermission()) === "granted") localStorage.setItem(KEY, "on");
  lookAtDesktopNotices();
}

export function switchOff(): void {
  localStorage.removeItem(KEY);
  lookAtDesktopNotices();
}

/** Tells of something on the desktop, when that is switched on and the page is not looked at. The same tag replaces what was told. */
export function tellDesktop(title: string, body: string, tag: string, onClick: () => void): void {
  if (look() !== "on" || document.hasFocus()) return;
  const notice = new Notification(title, { body, tag });
  notice.onclick = () => {
    window.focus();
    onClick();
    notice.close();
  };
}
