import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { agentsQuery, initiativesQuery } from "../api/queries";
import { cx } from "../lib/cx";
import { Icon } from "../ui/Icon";
import { Kbd } from "../ui/Kbd";
import { useCw } from "./cw";
import { openNewAgent } from "./overlays";
import { found, paletteItems, type PaletteItem } from "./paletteItems";
import { setTheme, themeOf } from "./theme";

/** Search for an agent, an initiative or a page, or do something. */
export function Palette({ onClose }: { onClose: () => void }) {
  const { client } = useCw();
  const agents = useQuery(agentsQuery(client)).data;
  const initiatives = useQuery(initiativesQuery(client)).data;
  const navigate = useNavigate();
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  useLayoutEffect(() => {
    if (dialog.current && !dialog.current.open) dialog.current.showModal();
  }, []);
  const items = useMemo(
    () =>
      paletteItems(agents ?? [], initiatives ?? [], {
        go: (to) => void navigate({ to }),
        newAgent: openNewAgent,
        theme: () => setTheme(themeOf() === "dark" ? "light" : "dark"),
      }),
    [agents, initiatives, navigate],
  );
  const hits = useMemo(() => found(items, typed), [items, typed]);
  const current = hits[Math.min(at, hits.length - 1)];
  const run = (item: PaletteItem | undefined) => {
    if (!item) return;
    onClose();
    item.run();
  };
  const move = (by: number) => setAt((hits.length + Math.min(at, hits.length - 1) + by) % Math.max(hits.length, 1));
  return (
    <dialog
      ref={dialog}
      aria-label="Search or run a command"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      className="mx-auto mt-[12dvh] mb-auto w-[min(38rem,calc(100vw-2rem))] overflow-hidden rounded-dialog bg-raised p-0 text-ink shadow-pop backdrop:bg-black/25"
    >
      <label className="flex h-11 items-center gap-2 border-b border-line px-4">
        <Icon name="u-search" className="text-ink-3" />
        <span className="sr-only">Search agents, initiatives, pages and actions</span>
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls="palette-hits"
          aria-activedescendant={current ? `hit-${current.id}` : undefined}
          placeholder="Agents, initiatives, pages, actions"
          value={typed}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === "ArrowDown" || event.key === "ArrowUp") move(event.key === "ArrowDown" ? 1 : -1);
            else if (event.key === "Enter") run(current);
            else return;
            event.preventDefault();
          }}
          className="min-w-0 flex-1 bg-transparent text-14 outline-none!"
        />
        <Kbd keys="Escape" />
      </label>
      <Hits hits={hits} current={current} onPoint={setAt} onRun={run} />
    </dialog>
  );
}

interface HitsProps {
  hits: PaletteItem[];
  current: PaletteItem | undefined;
  onPoint: (at: number) => void;
  onRun: (item: PaletteItem) => void;
}

function Hits({ hits, current, onPoint, onRun }: HitsProps) {
  const list = useRef<HTMLUListElement>(null);
  const id = current?.id;
  useEffect(() => list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" }), [id]);
  if (hits.length === 0) return <p role="status" className="px-4 py-6 text-ink-3">Nothing is called that.</p>;
  return (
    <ul ref={list} id="palette-hits" role="listbox" aria-label="Found" className="max-h-[50dvh] overflow-auto p-2">
      {hits.map((item, i) => (
        <li
          key={item.id}
          id={`hit-${item.id}`}
          role="option"
          aria-selected={item === current}
          onMouseMove={() => item !== current && onPoint(i)}
          onClick={() => onRun(item)}
          className={cx("flex h-(--row) cursor-pointer items-center gap-2 rounded-box px-2 max-tab:h-11", item === current && "bg-select")}
        >
          <Icon name={item.icon} className={item.tone ?? "text-ink-3"} />
          <span className="flex-none font-mid">{item.text}</span>
          <span className="min-w-0 flex-1 truncate text-ink-3">{item.group === "Agents" || item.group === "Initiatives" ? item.more : ""}</span>
          <span className="flex-none text-11 text-ink-3">{item.group}</span>
        </li>
      ))}
    </ul>
  );
}
