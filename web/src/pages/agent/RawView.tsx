import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Schema } from "../../api/client";
import { useCw } from "../../app/cw";
import { useStore } from "../../lib/store";
import { grouped } from "../../lib/words";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Skeleton } from "../../ui/Skeleton";
import { RawReader } from "./raw";

/** What is shown of a long line before somebody asks for all of it. */
const LONG = 1000;

interface Props {
  agent: Schema<"AgentView">;
  /** The number of a run; the newest without one. */
  run: string | undefined;
}

/** What the CLI wrote, byte for byte, in lines; signs that steer a terminal are left out. */
export function RawView({ agent, run }: Props) {
  const { client } = useCw();
  const session = run === undefined ? agent.sessionNumber : Number(run);
  const reader = useMemo(() => new RawReader(client, agent.id, session), [client, agent.id, session]);
  const raw = useStore(reader.state);
  useEffect(() => {
    void reader.run();
    return () => reader.close();
  }, [reader]);
  if (raw.error !== null) return <Failure what="The raw output could not be read" error={raw.error} />;
  if (!raw.ready) return <Skeleton rows={12} />;
  if (raw.lines.length === 0) return <Empty title="Nothing yet">What the CLI writes comes here as it comes.</Empty>;
  return <Lines lines={raw.lines} first={raw.first} older={raw.older} busy={raw.busy} onOlder={() => void reader.older()} />;
}

function Lines({ lines, first, older, busy, onOlder }: { lines: string[]; first: number; older: boolean; busy: boolean; onOlder: () => void }) {
  const box = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  const virtual = useVirtualizer({
    count: lines.length, getScrollElement: () => box.current, estimateSize: () => 18, getItemKey: (index) => first + index,
    overscan: 20, anchorTo: "end", paddingStart: 40, paddingEnd: 16,
  });
  const total = virtual.getTotalSize();
  useLayoutEffect(() => {
    if (atEnd.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [total, lines]);
  const scrolled = () => {
    const one = box.current;
    if (one) atEnd.current = one.scrollHeight - one.scrollTop - one.clientHeight < 24;
  };
  return (
    <div ref={box} onScroll={scrolled} tabIndex={0} role="group" aria-label="Raw output" className="min-h-0 flex-1 overflow-auto px-4 font-mono text-12 [overflow-anchor:none]">
      <div className="relative" style={{ height: `${total}px` }}>
        {older && <Button look="quiet" className="absolute top-1 left-0 text-12" acting={busy} onClick={onOlder}>256 kB before this</Button>}
        {virtual.getVirtualItems().map((one) => (
          <div key={one.key} ref={virtual.measureElement} data-index={one.index} className="absolute inset-x-0 top-0 min-h-4.5 whitespace-pre-wrap break-all" style={{ transform: `translateY(${one.start}px)` }}>
            <RawLine text={lines[one.index] ?? ""} />
          </div>
        ))}
      </div>
    </div>
  );
}

function RawLine({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  if (all || text.length <= LONG) return <>{text}</>;
  return (
    <>
      {text.slice(0, LONG)}{" "}
      <button type="button" className="text-ink-3 underline decoration-line-3 hover:text-ink" onClick={() => setAll(true)}>{grouped(text.length - LONG)} more characters</button>
    </>
  );
}
