import { memo } from "react";
import { firstLine } from "../../../lib/firstLine";
import { inert, spanInWords } from "../../../lib/words";
import { Markdown } from "../../../ui/Markdown";
import type { EndItem, Item, NoteItem, ThinkItem } from "../items";
import { shortPath } from "../tools";
import { Fold } from "./Fold";
import { Line } from "./Line";
import { PlanBox } from "./PlanBox";
import { ToolRow } from "./ToolRow";
import { TroubleBox } from "./TroubleBox";
import { Box } from "./Box";

export interface ItemProps<T extends Item = Item> {
  item: T;
  /** The item's version: it is changed in place. */
  version: number;
  /** What a person opened or folded; null: neither. */
  open: boolean;
  onOpen: (key: string, open: boolean) => void;
  /** Folders of the agent, to be left out of paths. */
  folders: readonly string[];
  /** Its run is under way. */
  live: boolean;
}

/** An item of an agent's output. */
export const ItemRow = memo(function ItemRow(props: ItemProps) {
  const { item } = props;
  switch (item.kind) {
    case "say":
      return (
        <Line at={item.goesOn ? "" : item.at} icon={item.goesOn ? "" : "u-ask"} look="words" inside={item.parent !== ""}>
          <div className="max-w-[68ch] text-14"><Markdown text={item.text} /></div>
        </Line>
      );
    case "think":
      return <Thought {...props} item={item} />;
    case "tool":
      return <ToolRow {...props} item={item} />;
    case "plan":
      return <PlanBox {...props} item={item} />;
    case "trouble":
      return <TroubleBox {...props} item={item} />;
    case "note":
      return <Note {...props} item={item} />;
    case "end":
      return <End item={item} />;
  }
});

function Thought({ item, open, onOpen }: ItemProps<ThinkItem>) {
  const took = Date.parse(item.until) - Date.parse(item.at);
  const head = (
    <>
      <span className="flex-none text-ink-3">{took >= 1000 ? `Thought for ${spanInWords(took)}` : "Thought"}</span>
      <span className="min-w-0 flex-1 truncate text-ink-3">{firstLine(item.text)}</span>
    </>
  );
  return (
    <Line at={item.at} icon="u-think" inside={item.parent !== ""}>
      <Fold open={open} onOpen={(now) => onOpen(item.key, now)} head={head}>
        {() => <div className="max-w-[68ch] py-1 text-ink-2"><Markdown text={item.text} /></div>}
      </Fold>
    </Line>
  );
}

function Note({ item, folders }: ItemProps<NoteItem>) {
  if (item.what === "compaction") {
    return <Line at={item.at} icon="u-list"><span className="text-ink-3">The context was full: the CLI went on with a summary</span></Line>;
  }
  return (
    <Line at={item.at} icon="u-edit">
      {item.files.map((file) => (
        <div key={file.path} className="truncate text-ink-2">
          {file.change === "add" ? "Added" : file.change === "delete" ? "Deleted" : "Changed"} <code>{inert(shortPath(file.path, folders))}</code>
        </div>
      ))}
    </Line>
  );
}

function End({ item }: { item: EndItem }) {
  if (!item.failed) {
    return <Line at={item.at} icon="u-ask" look="words"><div className="max-w-[68ch] text-14"><Markdown text={item.text} /></div></Line>;
  }
  return (
    <Line at={item.at} icon="s-error" tone="text-fail" look="box">
      <Box tone="fail" head={<b className="font-mid text-ink">The CLI ended with an error</b>}>
        {item.text === "" ? null : <p className="px-3 py-2 break-words whitespace-pre-line">{inert(item.text)}</p>}
      </Box>
    </Line>
  );
}
