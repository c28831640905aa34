import { useRouter } from "@tanstack/react-router";
import { lazy, Suspense, useEffect } from "react";
import { useStore } from "../lib/store";
import { useOuterKeys } from "./keys";
import { above } from "./links";
import { closeOverlay, openKeys, openNewAgent, openPalette, overlay } from "./overlays";

const loadPalette = () => import("./Palette").then((file) => ({ default: file.Palette }));
// They are loaded when they are first opened; the palette before, since people type at once.
const Palette = lazy(loadPalette);
const NewAgent = lazy(() => import("./NewAgent").then((file) => ({ default: file.NewAgent })));
const AllKeys = lazy(() => import("./AllKeys").then((file) => ({ default: file.AllKeys })));

/** What can be opened from every page. */
export function Overlays() {
  const open = useStore(overlay);
  const router = useRouter();
  const back = () => {
    const to = above(router.state.location.pathname);
    if (to) void router.navigate({ to });
  };
  useEffect(() => {
    const later = setTimeout(() => void loadPalette().catch(() => undefined), 1000); // it is tried again when it is opened
    return () => clearTimeout(later);
  }, []);
  useOuterKeys("Everywhere", [
    { key: "mod+k", does: "search or run a command", typing: true, run: openPalette },
    { key: "c", does: "new agent", run: openNewAgent },
    { key: "?", does: "all keys", hint: true, run: openKeys },
    { key: "Escape", does: "back", run: back },
  ]);
  return (
    <Suspense fallback={null}>
      {open === "palette" && <Palette onClose={closeOverlay} />}
      {open === "new-agent" && <NewAgent onClose={closeOverlay} />}
      {open === "keys" && <AllKeys onClose={closeOverlay} />}
    </Suspense>
  );
}
