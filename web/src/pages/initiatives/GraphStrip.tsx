import { useEffect, useMemo, useRef } from "react";
import { cx } from "../../lib/cx";
import { oneLine } from "../../lib/words";
import { Icon } from "../../ui/Icon";
import { layout, NODE, type GraphLayout, type GraphNode } from "./graph";
import type { PhaseRow, TaskRow } from "./tree";

interface Props {
  tree: PhaseRow[];
  selected: string;
  onSelect: (task: string) => void;
}

/** Room for the phases' names above the columns. */
const HEAD = 18;

/**
 * What depends on what, left to right. It is for eyes: the tree holds the same
 * tasks, and a task's own page says what it depends on.
 */
export function GraphStrip({ tree, selected, onSelect }: Props) {
  const rows = useMemo(() => new Map(tree.flatMap((phase) => phase.tasks.map((row) => [row.task.id, row]))), [tree]);
  const shape = [...rows.values()].map(({ task }) => `${task.id}:${task.status === "done"}:${task.dependsOn.join()}`).join(";");
  // eslint-disable-next-line react-hooks/exhaustive-deps -- shape says all that the layout depends on
  const graph = useMemo(() => layout([...rows.values()].map(({ task }) => ({ id: task.id, dependsOn: task.dependsOn, done: task.status === "done" }))), [shape]);
  const scroller = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const node = graph.nodes.find((one) => one.id === selected);
    const box = scroller.current;
    if (!node || !box) return;
    if (node.x < box.scrollLeft || node.x + NODE.width > box.scrollLeft + box.clientWidth) box.scrollLeft = node.x - 2 * NODE.left;
    if (node.y < box.scrollTop || node.y + HEAD + NODE.height > box.scrollTop + box.clientHeight) box.scrollTop = node.y - NODE.top;
  }, [graph, selected]);
  const waits = [...rows.values()].some((row) => row.person);
  return (
    <section aria-label="Dependencies" className="relative col-span-2 col-start-2 min-h-0 border-b border-line bg-bg pb-6 max-desk:col-span-1 max-tab:hidden">
      <div ref={scroller} tabIndex={0} role="group" aria-label="Graph of the tasks: the tree says the same in words" className="max-h-[min(20rem,36dvh)] overflow-auto">
        <div aria-hidden="true" className="relative" style={{ width: graph.width, height: graph.height + HEAD }}>
          {headsOf(tree, graph).map((head) => (
            <span key={head.x} className="absolute top-1.5 text-11 font-bold whitespace-nowrap text-ink-2" style={{ left: head.x }}>{head.text}</span>
          ))}
          <Edges graph={graph} />
          {graph.nodes.map((node) => (
            <Node key={node.id} node={node} row={rows.get(node.id)} selected={node.id === selected} onSelect={onSelect} />
          ))}
        </div>
      </div>
      <p className="absolute bottom-1 left-4 flex gap-4 text-11 text-ink-3">
        {graph.chain.length > 0 && <span>Heavy line: longest chain, {graph.chain.length} tasks left</span>}
        {waits && <span>Dashed: waits for a person</span>}
      </p>
    </section>
  );
}

function Edges({ graph }: { graph: GraphLayout }) {
  return (
    <svg className="absolute left-0 fill-none" style={{ top: HEAD }} width={graph.width} height={graph.height}>
      {graph.edges.map((edge) => (
        <path key={`${edge.from}>${edge.to}`} d={edge.path} className={edge.heavy ? "stroke-ink" : "stroke-line-3"} strokeWidth={edge.heavy ? 1.75 : 1} />
      ))}
      {graph.edges.map((edge) => (
        <path key={`${edge.from}>${edge.to}`} d={`M${edge.tip.x - 5} ${edge.tip.y - 3}l5 3l-5 3z`} className={edge.heavy ? "fill-ink" : "fill-line-3"} />
      ))}
    </svg>
  );
}

function Node({ node, row, selected, onSelect }: { node: GraphNode; row: TaskRow | undefined; selected: boolean; onSelect: (task: string) => void }) {
  if (!row) return null;
  const status = row.task.status;
  const works = status === "running" || status === "verifying" || status === "merging";
  return (
    <button
      type="button"
      tabIndex={-1}
      onClick={() => onSelect(node.id)}
      style={{ left: node.x, top: node.y + HEAD, width: NODE.width, height: NODE.height }}
      className={cx(
        "absolute flex items-center gap-2 rounded-box border px-2 text-left leading-none",
        selected ? "bg-select" : "bg-panel",
        row.person ? "border-dashed border-need-mark" : works ? "border-work" : "border-line-2",
      )}
    >
      <Icon name={row.mark.icon} small className={row.mark.tone} />
      <span className="min-w-0 flex-1 text-11">
        <span className={cx("block truncate font-mid", status === "done" ? "text-ink-3" : "text-ink")}>{row.name}</span>
        <span className="block truncate text-ink-3 tabular-nums">{below(row)}</span>
      </span>
    </button>
  );
}

/** The second line of a node, in two or three words. */
function below(row: TaskRow): string {
  if (row.task.status === "done") return "merged";
  if (row.person) return "waits for you";
  return [row.who || row.mark.word.toLowerCase(), row.steps].filter(Boolean).join(" ");
}

/** The name of the phase that most of a column belongs to, where it is another one than before. */
function headsOf(tree: PhaseRow[], graph: GraphLayout): { x: number; text: string }[] {
  const phaseOf = new Map(tree.flatMap((phase) => phase.tasks.map((row) => [row.task.id, phase])));
  const columns = new Map<number, Map<PhaseRow, number>>();
  for (const node of graph.nodes) {
    const phase = phaseOf.get(node.id);
    if (!phase) continue;
    const counts = columns.get(node.column) ?? new Map<PhaseRow, number>();
    columns.set(node.column, counts.set(phase, (counts.get(phase) ?? 0) + 1));
  }
  let last: PhaseRow | undefined;
  return [...columns].sort(([a], [b]) => a - b).flatMap(([column, counts]) => {
    const most = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
    if (most === last) return [];
    last = most;
    return [{ x: NODE.left + column * (NODE.width + NODE.gapX), text: `${most.phase.position + 1} ${oneLine(most.phase.name)}` }];
  });
}
