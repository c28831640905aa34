import { useStore } from "../lib/store";
import { Dialog } from "../ui/Dialog";
import { Kbd } from "../ui/Kbd";
import { layers } from "./keys";

/** All keys that work where the person is, the innermost part's first. */
export function AllKeys({ onClose }: { onClose: () => void }) {
  const all = [...useStore(layers)].reverse();
  return (
    <Dialog title="Keys" onClose={onClose}>
      {all.map((layer) => (
        <section key={layer.name}>
          <h3 className="mb-1 text-11 text-ink-3">{layer.name}</h3>
          <dl className="grid grid-cols-[5rem_minmax(0,1fr)] gap-y-1">
            {layer.keys.map((key) => (
              <div key={key.key} className="contents">
                <dt><Kbd keys={key.key} /><span className="sr-only">{key.key}</span></dt>
                <dd>{key.does}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
    </Dialog>
  );
}
