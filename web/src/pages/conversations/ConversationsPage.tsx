import { Main, TopBar } from "../../app/TopBar";

export function ConversationsPage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Conversations</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Conversations</p>
      </Main>
    </>
  );
}
