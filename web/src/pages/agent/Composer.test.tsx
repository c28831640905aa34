import { act, fireEvent, screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { agentOf, cwWith } from "../../testing/fakes";
import { renderAt } from "../../testing/renderAt";
import { Composer } from "./Composer";

const agent = agentOf("sly-stoat", { status: "running" });
const field = () => screen.getByLabelText<HTMLTextAreaElement>("Message to sly-stoat");

/** An open composer whose message is stored when the test says so. */
async function writing() {
  let stored: (value: unknown) => void = () => undefined;
  const { cw, asked } = cwWith({ "POST /v1/agents/id-sly-stoat/messages": () => new Promise((resolve) => (stored = resolve)) });
  const view = renderAt(cw, <Composer agent={agent} field={{ current: null }} />);
  await waitFor(field);
  fireEvent.input(field(), { target: { value: "Use pnpm." } });
  await waitFor(() => expect(sessionStorage.length).toBe(1));
  fireEvent.submit(field().form as HTMLFormElement);
  await waitFor(() => expect(asked).toHaveLength(1));
  return { view, stored: () => act(async () => stored({})) };
}

test("what is written while a message is sent stays", async () => {
  const { view, stored } = await writing();
  fireEvent.input(field(), { target: { value: "Use pnpm. And no lock file" } });
  await stored();
  await waitFor(() => expect(field().value).toBe("And no lock file"));
  view.end();
});

test("a message that is stored after the page was left is no draft any more", async () => {
  const { view, stored } = await writing();
  view.end();
  view.unmount();
  await stored();
  await waitFor(() => expect(sessionStorage.length).toBe(0));
});
