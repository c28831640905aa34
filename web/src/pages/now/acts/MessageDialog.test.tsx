import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { agentOf, cwWith, refuse } from "../../../testing/fakes";
import { renderAt } from "../../../testing/renderAt";
import { MessageDialog } from "./MessageDialog";

test("a second try tells only those who do not have it yet", async () => {
  HTMLDialogElement.prototype.showModal = function () {
    this.open = true;
  };
  const { cw, asked } = cwWith({ "POST /v1/agents/id-sly-stoat/messages": {}, "POST /v1/agents/id-shy-panda/messages": () => refuse(409, "conflict", "it was removed") });
  const view = renderAt(cw, <MessageDialog agents={[agentOf("sly-stoat"), agentOf("shy-panda")]} onClose={() => undefined} />);
  fireEvent.input(await screen.findByLabelText("Text"), { target: { value: "Use pnpm." } });
  fireEvent.submit(document.querySelector("form") as HTMLFormElement);
  await screen.findByRole("alert");
  fireEvent.submit(document.querySelector("form") as HTMLFormElement);
  await waitFor(() => expect(asked).toHaveLength(3));
  expect(asked.map((one) => one.line)).toEqual(["POST /v1/agents/id-sly-stoat/messages", "POST /v1/agents/id-shy-panda/messages", "POST /v1/agents/id-shy-panda/messages"]);
  view.end();
});
