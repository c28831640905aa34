import { Main, TopBar } from "../../app/TopBar";

export function SettingsPage() {
  return (
    <>
      <TopBar>
        <h1 className="text-14 font-bold">Settings</h1>
      </TopBar>
      <Main>
        <p className="p-4 text-ink-3">Settings</p>
      </Main>
    </>
  );
}
