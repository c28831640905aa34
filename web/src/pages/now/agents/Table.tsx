import { useEffect, useMemo, useRef, type RefObject } from "react";
import type { Schema } from "../../../api/client";
import { AgentRow } from "./AgentRow";
import { columns } from "./columns";
import { GroupRow } from "./GroupRow";
import { PhoneAgentRow } from "./PhoneAgentRow";
import type { Row } from "./rows";
import { useWindow } from "./useWindow";

/** What somebody looks at; rows are not put above it. */
export interface Looked {
  /** The first row in view; it may be the head of a group. */
  first: () => string | null;
  focused: string | null;
  pointed: string | null;
}

export interface TableProps {
  rows: Row[];
  cursor: string | null;
  selected: Set<string>;
  leaving: Map<string, number>;
  /** The agent of the chosen item of the inbox. */
  chosen: string | null;
  merges: Map<string, Schema<"Merge">>;
  tasks: Map<string, Schema<"DispatchTask">>;
  proposals: Map<string, number>;
  looked: RefObject<Looked>;
  onCursor: (id: string) => void;
  onSelect: (id: string) => void;
}

/** Heights of rows in pixels, and of what lies over the top of the list: filters, and column heads where there are any. */
const sizes = { desk: { agent: 30, group: 30, head: 70 }, phone: { agent: 70, group: 32, head: 100 } };

/** The table of agents. Only rows in view are painted. */
export function Table({ phone, ...props }: TableProps & { phone: boolean }) {
  const { rows, cursor, looked } = props;
  const list = useRef<HTMLDivElement>(null);
  const size = sizes[phone ? "phone" : "desk"];
  const at = cursor === null ? -1 : rows.findIndex((row) => row.key === cursor);
  const view = useWindow({ heights: useMemo(() => rows.map((row) => size[row.kind]), [rows, size]), list, head: size.head, kept: at });
  useEffect(() => {
    // A key moved the cursor: the row comes into view and gets the focus.
    const link = () => list.current?.querySelector<HTMLElement>(`[data-agent="${cursor}"] a`);
    if (cursor === null || at < 0 || link() === document.activeElement) return;
    view.reveal(at);
    const frame = requestAnimationFrame(() => link()?.focus({ preventScroll: true }));
    return () => cancelAnimationFrame(frame);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only a move of the cursor moves the focus
  }, [cursor]);
  useEffect(() => {
    looked.current.first = () => rows[view.first()]?.key ?? null;
  });
  const of = (target: EventTarget | null) => (target instanceof Element ? (target.closest<HTMLElement>("[data-agent]")?.dataset.agent ?? null) : null);
  const reachable = at >= 0 ? cursor : rows.find((row) => row.kind === "agent")?.key;
  return (
    <div role="grid" aria-label="Agents" aria-rowcount={rows.length + 1} aria-multiselectable>
      <Columns phone={phone} />
      <div
        ref={list}
        role="rowgroup"
        className="relative"
        style={{ height: view.offsets.at(-1) }}
        onFocusCapture={(event) => (looked.current.focused = of(event.target))}
        onBlurCapture={() => (looked.current.focused = null)}
        onMouseOver={(event) => (looked.current.pointed = of(event.target))}
        onMouseLeave={() => (looked.current.pointed = null)}
      >
        {view.rows.map((i) => (
          <div key={rows[i]?.key} role="presentation" className="absolute inset-x-0 top-0" style={{ height: (view.offsets[i + 1] ?? 0) - (view.offsets[i] ?? 0), transform: `translateY(${view.offsets[i]}px)` }}>
            <Line {...props} row={rows[i]} index={i + 2} phone={phone} first={reachable} />
          </div>
        ))}
      </div>
    </div>
  );
}

function Line({ row, index, phone, first, ...props }: Omit<TableProps, "rows"> & { row: Row | undefined; index: number; phone: boolean; first: string | null | undefined }) {
  if (!row) return null;
  if (row.kind === "group") return <GroupRow group={row.group} index={index} />;
  const { agent } = row;
  const AnyRow = phone ? PhoneAgentRow : AgentRow;
  return (
    <AnyRow
      agent={agent}
      index={index}
      selected={props.selected.has(agent.id)}
      chosen={props.chosen === agent.id}
      reachable={first === agent.id}
      leaving={props.leaving.has(agent.id)}
      merge={props.merges.get(agent.taskId)}
      task={props.tasks.get(agent.taskId)}
      proposals={props.proposals.get(agent.id)}
      onSelect={props.onSelect}
      onFocus={props.onCursor}
    />
  );
}

const heads = ["Status", "Agent", "Task", "This second", "Plan", "Time", "Cost", "Account", "Lines, files"];

function Columns({ phone }: { phone: boolean }) {
  if (phone) {
    return (
      <div role="row" aria-rowindex={1} className="sr-only">
        {["Agent", "Cost", "Task", "This second", "Plan"].map((text) => <span key={text} role="columnheader">{text}</span>)}
      </div>
    );
  }
  return (
    <div role="row" aria-rowindex={1} className={`${columns} sticky top-11 z-2 h-6.5 border-b border-line bg-panel text-11 text-ink-3`}>
      <span role="columnheader"><span className="sr-only">Select</span></span>
      {heads.map((text, i) => (
        <span key={text} role="columnheader" className={`${i === 5 || i === 6 || i === 8 ? "text-right" : ""} ${i > 6 ? "max-desk:hidden" : ""}`}>
          {text}
        </span>
      ))}
    </div>
  );
}
