import { Main, TopBar } from "../../app/TopBar";

export function AgentPage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Agent</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Agent</p>
      </Main>
    </>
  );
}
