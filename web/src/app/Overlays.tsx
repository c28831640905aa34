import { lazy, Suspense } from "react";
import { useStore } from "../lib/store";
import { useKeys } from "./keys";
import { closeOverlay, openNewAgent, openPalette, overlay } from "./overlays";

// Both are loaded when they are first opened.
const Palette = lazy(() => import("./Palette").then((file) => ({ default: file.Palette })));
const NewAgent = lazy(() => import("./NewAgent").then((file) => ({ default: file.NewAgent })));

/** What can be opened from every page. */
export function Overlays() {
  const open = useStore(overlay);
  useKeys("Everywhere", [
    { key: "mod+k", does: "search or run a command", typing: true, run: openPalette },
    { key: "c", does: "new agent", run: openNewAgent },
  ]);
  return (
    <Suspense fallback={null}>
      {open === "palette" && <Palette onClose={closeOverlay} />}
      {open === "new-agent" && <NewAgent onClose={closeOverlay} />}
    </Suspense>
  );
}
