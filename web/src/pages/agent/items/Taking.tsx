import { useNow } from "../../../lib/clock";
import { span } from "../../../lib/words";

/** How long something is under way, a second at a time. */
export function Taking({ at }: { at: string }) {
  const now = useNow();
  return <>running{at === "" ? "" : ` · ${span(now - Date.parse(at))}`}</>;
}
