import type { Virtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, type RefObject } from "react";
import type { Schema } from "../../../api/client";
import { AgentRow } from "./AgentRow";
import { columns } from "./columns";
import { GroupRow } from "./GroupRow";
import { PhoneAgentRow } from "./PhoneAgentRow";
import type { Row } from "./rows";
import { firstInView, useDeskRows, usePhoneRows } from "./useRows";

/** What somebody looks at; rows are not put above it. */
export interface Looked {
  first: string | null;
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

export function DeskTable(props: TableProps) {
  const list = useRef<HTMLDivElement>(null);
  return <Table {...props} phone={false} list={list} view={useDeskRows({ rows: props.rows, list, kept: indexOf(props) })} />;
}

export function PhoneTable(props: TableProps) {
  const list = useRef<HTMLDivElement>(null);
  return <Table {...props} phone list={list} view={usePhoneRows({ rows: props.rows, list, kept: indexOf(props) })} />;
}

const indexOf = (props: TableProps): number => (props.cursor === null ? -1 : props.rows.findIndex((row) => row.key === props.cursor));

interface Props extends TableProps {
  phone: boolean;
  list: RefObject<HTMLDivElement | null>;
  view: Virtualizer<HTMLElement, Element> | Virtualizer<Window, Element>;
}

/** The table of agents. Only rows in view are painted. */
function Table({ view, list, phone, ...props }: Props) {
  const { rows, cursor, looked } = props;
  const at = indexOf(props);
  useEffect(() => {
    // A key moved the cursor: the row comes into view and gets the focus.
    const link = () => list.current?.querySelector<HTMLElement>(`[data-agent="${cursor}"] a`);
    if (cursor === null || at < 0 || link() === document.activeElement) return;
    view.scrollToIndex(at, { align: "auto" });
    const frame = requestAnimationFrame(() => link()?.focus({ preventScroll: true }));
    return () => cancelAnimationFrame(frame);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- only a move of the cursor moves the focus
  }, [cursor]);
  looked.current.first = rows[firstInView(view)]?.key ?? null;
  const of = (target: EventTarget | null) => (target instanceof Element ? (target.closest<HTMLElement>("[data-agent]")?.dataset.agent ?? null) : null);
  return (
    <div role="grid" aria-label="Agents" aria-rowcount={rows.length + 1} aria-multiselectable>
      <Columns phone={phone} />
      <div
        ref={list}
        role="rowgroup"
        className="relative"
        style={{ height: view.getTotalSize() }}
        onFocusCapture={(event) => (looked.current.focused = of(event.target))}
        onBlurCapture={() => (looked.current.focused = null)}
        onMouseOver={(event) => (looked.current.pointed = of(event.target))}
        onMouseLeave={() => (looked.current.pointed = null)}
      >
        {view.getVirtualItems().map((item) => (
          <div key={item.key} role="presentation" className="absolute inset-x-0 top-0" style={{ height: item.size, transform: `translateY(${item.start - view.options.scrollMargin}px)` }}>
            <Line {...props} row={rows[item.index]} index={item.index + 2} phone={phone} first={reachable(rows, cursor, at)} />
          </div>
        ))}
      </div>
    </div>
  );
}

/** The row that Tab leads to: the cursor's, else the first. */
function reachable(rows: Row[], cursor: string | null, at: number): string | undefined {
  return at >= 0 && cursor !== null ? cursor : rows.find((row) => row.kind === "agent")?.key;
}

function Line({ row, index, phone, first, ...props }: Omit<TableProps, "rows"> & { row: Row | undefined; index: number; phone: boolean; first: string | undefined }) {
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
