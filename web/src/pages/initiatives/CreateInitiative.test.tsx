import { fireEvent, screen, waitFor } from "@testing-library/preact";
import { expect, test } from "vitest";
import { cwWith, refuse } from "../../testing/fakes";
import { renderAt } from "../../testing/renderAt";
import { CreateInitiative } from "./CreateInitiative";

test("what is pressed while the page of the new initiative comes makes no second one, and a refusal can be tried again", async () => {
  let refused = true;
  const { cw, asked } = cwWith({
    "GET /v1/projects": { items: [] },
    "POST /v1/initiatives": () => (refused ? refuse(400, "invalid", "the name is taken") : { slug: "sale" }),
  });
  const done: string[] = [];
  const shown = renderAt(cw, <CreateInitiative onClose={() => undefined} onDone={(slug) => done.push(slug)} />);
  fireEvent.input(await screen.findByLabelText(/^Name/), { target: { value: "Sale" } });
  const make = screen.getByRole<HTMLButtonElement>("button", { name: "Make it", hidden: true });
  const form = make.closest("form") as HTMLFormElement;
  await waitFor(() => expect(make.disabled).toBe(false));
  fireEvent.submit(form);
  await screen.findByText(/the name is taken/);
  refused = false;
  fireEvent.submit(form);
  await waitFor(() => expect(done).toEqual(["sale"]));
  fireEvent.submit(form);
  await waitFor(() => expect(make.disabled).toBe(true));
  expect(asked.filter((one) => one.line === "POST /v1/initiatives")).toHaveLength(2);
  shown.end();
});
