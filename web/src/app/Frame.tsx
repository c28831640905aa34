import { Outlet } from "@tanstack/react-router";
import { Connected } from "../lib/connected";
import { useStore } from "../lib/store";
import { Announcer } from "./Announcer";
import { ConnectionBanner } from "./ConnectionBanner";
import { useCw } from "./cw";
import { Notices } from "./notices";
import { Overlays } from "./Overlays";
import { Sidebar } from "./Sidebar";
import { StatusBar } from "./StatusBar";

/** Sidebar, the page with its bar, status bar. A page is a TopBar and a Main. */
export function Frame() {
  const connected = useStore(useCw().live.state).kind !== "lost";
  return (
    <Connected.Provider value={connected}>
      <div className="grid h-dvh grid-cols-[var(--side)_minmax(0,1fr)] grid-rows-[var(--bar)_minmax(0,1fr)_var(--foot)] max-tab:block max-tab:h-auto max-tab:pb-15">
        <a href="#main" className="absolute -top-16 left-2 z-30 rounded-box bg-ink px-3 py-2 text-on-ink focus:top-2">
          Skip to content
        </a>
        <Sidebar />
        <Outlet />
        <StatusBar />
        <ConnectionBanner />
        <Notices />
        <Overlays />
        <Announcer />
      </div>
    </Connected.Provider>
  );
}
