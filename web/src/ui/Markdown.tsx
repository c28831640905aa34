import { memo } from "react";
import { blocksOf, type Block, type Inline } from "../lib/markdown";
import { inert } from "../lib/words";

/** Text of an agent or a person, with its Markdown shown. It is inert: nothing in it is more than text, and links lead to the web alone. */
export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-2 break-words">
      {blocksOf(inert(text)).map((block, i) => (
        <Shown key={i} block={block} />
      ))}
    </div>
  );
});

function Shown({ block }: { block: Block }) {
  switch (block.kind) {
    case "paragraph":
      return <p className="whitespace-pre-line"><Parts parts={block.parts} /></p>;
    case "quote":
      return <blockquote className="border-l-2 border-line-2 pl-3 whitespace-pre-line text-ink-2"><Parts parts={block.parts} /></blockquote>;
    case "heading":
      return <p role="heading" aria-level={Math.min(6, block.level + 2)} className="font-bold"><Parts parts={block.parts} /></p>;
    case "code":
      return <pre tabIndex={0} className="overflow-x-auto rounded-box border border-line bg-sunken px-3 py-2 text-12">{block.text}</pre>;
    case "rule":
      return <hr className="border-line" />;
    case "list":
      return <List block={block} />;
  }
}

const indents = ["", "ml-4", "ml-8", "ml-12"];

function List({ block }: { block: Extract<Block, { kind: "list" }> }) {
  const Tag = block.ordered ? "ol" : "ul";
  let number = block.start - 1;
  return (
    <Tag className="grid grid-cols-[minmax(0,1fr)] gap-0.5">
      {block.items.map((item, i) => {
        if (item.depth === 0) number++;
        return (
          <li key={i} className={`flex gap-2 ${indents[item.depth] ?? ""}`}>
            <span aria-hidden="true" className="flex-none text-ink-3 tabular-nums">{block.ordered && item.depth === 0 ? `${number}.` : "•"}</span>
            <span className="min-w-0"><Parts parts={item.parts} /></span>
          </li>
        );
      })}
    </Tag>
  );
}

function Parts({ parts }: { parts: Inline[] }) {
  return (
    <>
      {parts.map((part, i) => {
        switch (part.kind) {
          case "code":
            return <code key={i} className="rounded-chip bg-sunken px-1 py-px">{part.text}</code>;
          case "bold":
            return <b key={i} className="font-bold">{part.text}</b>;
          case "soft":
            return <em key={i}>{part.text}</em>;
          case "link":
            return <a key={i} href={part.href} target="_blank" rel="noopener noreferrer" className="underline decoration-line-3 underline-offset-2 hover:decoration-ink">{part.text}</a>;
          default:
            return <span key={i}>{part.text}</span>;
        }
      })}
    </>
  );
}
