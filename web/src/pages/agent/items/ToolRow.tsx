import { firstLine } from "../../../lib/firstLine";
import { grouped, inert } from "../../../lib/words";
import { cx } from "../../../lib/cx";
import { Taking } from "./Taking";
import type { ToolItem } from "../items";
import { shortPath, subjectOf, tookWords, verbOf } from "../tools";
import { EditBox } from "./EditBox";
import { Fold } from "./Fold";
import type { ItemProps } from "./ItemRow";
import { Line } from "./Line";
import { Output } from "./Output";

/** A call of a tool: one line that opens, or what it changes as a small diff. */
export function ToolRow(props: ItemProps<ToolItem>) {
  const { item, open, onOpen, folders, live } = props;
  const running = live && item.result === null && item.tool !== "";
  if (item.edits.length > 0) return <Edits {...props} running={running} />;
  const verb = verbOf(item.tool);
  const subject = item.tool === "" ? changedOf(item) : subjectOf(item.tool, item.input);
  const head = (
    <>
      <span className="flex-none">{item.tool === "" ? (item.changed.length > 0 ? "Changed" : "Result") : verb.word}</span>
      <code className="min-w-0 flex-1 truncate text-12 text-ink">{firstLine(shortPath(subject, folders))}</code>
      <span className={cx("flex-none text-12 tabular-nums", item.failed && !running ? "text-fail" : "text-ink-3")}>
        {running ? <Taking at={item.at} /> : outcome(item)}
      </span>
    </>
  );
  return (
    <Line at={item.at} icon={item.tool === "" ? "u-term" : verb.icon} inside={item.parent !== ""}>
      <Fold open={open} onOpen={(now) => onOpen(item.key, now)} head={head}>
        {() => <Opened item={item} />}
      </Fold>
    </Line>
  );
}

function Edits({ item, open, onOpen, folders, running }: ItemProps<ToolItem> & { running: boolean }) {
  const state = running ? "running" : item.denied ? "refused" : item.failed ? "failed" : "";
  return (
    <Line at={item.at} icon="u-edit" look="box" inside={item.parent !== ""}>
      {item.edits.map((edit, i) => (
        <EditBox key={i} word={verbOf(item.tool).word} edit={edit} path={inert(shortPath(edit.path, folders))} open={open} onOpen={(now) => onOpen(item.key, now)} state={state} />
      ))}
      {item.failed && item.result !== null && open && <Output text={item.result} label="Why it failed" />}
    </Line>
  );
}

function Opened({ item }: { item: ToolItem }) {
  const input = inputText(item.input);
  return (
    <>
      {input !== "" && <Output text={input} label="Input" />}
      {item.result !== null && item.result !== "" && <Output text={item.result} label="Output" tail />}
      {input === "" && !item.result && <p className="py-1 text-12 text-ink-3">No output</p>}
    </>
  );
}

/** The input as far as the line does not say it: a text in lines, or all fields of several. */
function inputText(input: unknown): string {
  if (input === null || input === undefined) return "";
  if (typeof input !== "object") return String(input);
  const fields = Object.entries(input);
  if (fields.length === 0) return "";
  return fields.map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, null, 2)}`).join("\n");
}

function changedOf(item: ToolItem): string {
  return item.changed.map((one) => one.path).join(" ");
}

/** "ok · 2.1 s", "12 lines", "failed". */
function outcome(item: ToolItem): string {
  if (item.denied) return "refused";
  if (item.result === null) return item.failed ? "failed" : "";
  const lines = item.result.trim() === "" ? 0 : item.result.trim().split("\n").length;
  const word = item.failed ? "failed" : lines > 1 ? `${grouped(lines)} lines` : "ok";
  return [word, tookWords(Date.parse(item.until) - Date.parse(item.at))].filter(Boolean).join(" · ");
}
