import { Link } from "@tanstack/react-router";
import type { Conversation } from "../../api/conversationQueries";
import { cx } from "../../lib/cx";
import { oneLine } from "../../lib/words";
import { Ago } from "../../ui/Ago";
import { Icon } from "../../ui/Icon";
import { askedOf, markOfConversation } from "./threads";

/** Who asks whom, the first words, where it stands and since when. */
export function ConversationRow({ one, show, here }: { one: Conversation; show: string | undefined; here: boolean }) {
  const mark = markOfConversation(one);
  return (
    <li className="border-b border-line">
      <Link
        to="/conversations"
        search={show ? { id: one.id, show } : { id: one.id }}
        aria-current={here ? "true" : undefined}
        data-id={one.id}
        className={cx("grid grid-cols-[1rem_minmax(0,1fr)_auto] gap-x-2 px-4 py-2 hover:bg-hover", here && "bg-select")}
      >
        <Icon name={mark.icon} className={cx("mt-0.5", mark.tone)} label={mark.word} />
        <span className="min-w-0 truncate">
          <span className="font-mid">{one.from}</span>
          <span className="text-ink-3"> asks </span>
          <span className="font-mid">{oneLine(askedOf(one))}</span>
        </span>
        <Ago at={one.answeredAt ?? one.createdAt} className="text-right text-12 text-ink-3" />
        <span className="col-start-2 min-w-0 truncate text-12 text-ink-2">{oneLine(one.question)}</span>
        <span className={cx("text-right text-12", mark.text)}>{mark.word}</span>
      </Link>
    </li>
  );
}
