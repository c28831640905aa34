import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { conversationsQuery, type Conversation } from "../../api/conversationQueries";
import { useCw } from "../../app/cw";
import { useKeys } from "../../app/keys";
import { useTitle } from "../../app/title";
import { Main, TopBar } from "../../app/TopBar";
import { cx } from "../../lib/cx";
import { usePhone } from "../../lib/media";
import { Button } from "../../ui/Button";
import { Empty } from "../../ui/Empty";
import { Failure } from "../../ui/Failure";
import { Icon } from "../../ui/Icon";
import { Seg } from "../../ui/Seg";
import { Skeleton } from "../../ui/Skeleton";
import { ConversationRow } from "./ConversationRow";
import { Thread } from "./Thread";

/** What agents ask each other: the list on the left, one thread on the right. */
export function ConversationsPage() {
  const { client } = useCw();
  const { id, show } = useSearch({ from: "/conversations" });
  const navigate = useNavigate({ from: "/conversations" });
  const open = show === "open";
  const list = useInfiniteQuery(conversationsQuery(client, open));
  const all = list.data?.pages.flatMap((page) => page.items ?? []) ?? [];
  const phone = usePhone();
  const chosen = id ?? (phone ? undefined : all[0]?.id);
  const at = all.findIndex((one) => one.id === chosen);
  const move = (by: number) => {
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
    if (!next) return;
    void navigate({ search: (before) => ({ ...before, id: next.id }), replace: true });
    document.querySelector(`[data-id="${CSS.escape(next.id)}"]`)?.scrollIntoView({ block: "nearest" });
  };
  useTitle("Conversations");
  useKeys("Conversations", [
    { key: "j", does: "move", hint: true, run: () => move(1) },
    { key: "k", does: "move back", run: () => move(-1) },
    { key: "o", does: "open or all", hint: true, run: () => void navigate({ search: open ? {} : { show: "open" } }) },
    { key: "Escape", does: "back to the list", run: () => void navigate({ search: show ? { show } : {} }) },
  ]);
  const empty = list.data !== undefined && all.length === 0;
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Conversations</h1>
        <span className="flex-1" />
        <Seg label="Which" value={open ? "open" : "all"} onChoose={(next) => void navigate({ search: next === "open" ? { show: "open" } : {} })} choices={[{ value: "all", text: "All" }, { value: "open", text: "Open" }]} />
      </TopBar>
      <Main className="tab:overflow-hidden">
        {list.error && <Failure what="The conversations cannot be read" error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && !list.error && <Skeleton rows={10} />}
        {empty && !id && (open ? <NothingOpen /> : <NoConversations />)}
        {(all.length > 0 || id) && (
          <div className="h-full tab:grid tab:grid-cols-[minmax(18rem,44%)_minmax(0,1fr)]">
            <div className={cx("min-h-0 overflow-auto tab:border-r tab:border-line", id !== undefined && "max-tab:hidden")}>
              <List all={all} show={show} chosen={chosen} more={list.hasNextPage} reading={list.isFetchingNextPage} onMore={() => void list.fetchNextPage()} />
            </div>
            <div className={cx("min-h-0 overflow-auto", id === undefined && "max-tab:hidden")}>
              <Link to="/conversations" search={show ? { show } : {}} className="flex h-10 items-center gap-1 px-3 text-ink-2 tab:hidden">
                <Icon name="u-right" small className="rotate-180" />
                All conversations
              </Link>
              {chosen && <Thread id={chosen} all={all} />}
            </div>
          </div>
        )}
      </Main>
    </>
  );
}

interface ListProps {
  all: Conversation[];
  show: string | undefined;
  chosen: string | undefined;
  more: boolean;
  reading: boolean;
  onMore: () => void;
}

function List({ all, show, chosen, more, reading, onMore }: ListProps) {
  return (
    <>
      <ul aria-label="Conversations">
        {all.map((one) => <ConversationRow key={one.id} one={one} show={show} here={one.id === chosen} />)}
      </ul>
      {more && <div className="p-4"><Button acting={reading} onClick={onMore}>Show older ones</Button></div>}
    </>
  );
}

function NothingOpen() {
  return <Empty title="No question waits for an answer">Everything that agents asked each other is answered or cancelled.</Empty>;
}

function NoConversations() {
  return (
    <Empty title="No conversations yet" command={'cw initiative run "what is to be reached" --until execute'}>
      Agents that work at the same time ask each other: how a thing is named, who changes a file, what was decided. Their questions and answers stand here.
    </Empty>
  );
}
