/** A call that cannot be understood: exit code 2. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

export const USAGE = `Usage: tidemark <command> [options]

  chat [prompt…]                     talk to an agent
    --presenter NAME                 terminal (on a terminal), print (elsewhere), jsonl, or one of an extension's
    --extension MODULE               a module that registers presenters; may be given several times
    --thread ID                      go on in a thread; without, a new one
    --engine NAME, --model NAME      of the runs that are started
    --approve                        print: approve every tool call that asks
  threads                            the threads
  runs THREAD                        a thread's runs, newest first
  interrupts [--thread ID]           what waits for a person
  approve INTERRUPT                  approve a tool call
    --args JSON                      with these arguments instead
    --always                         and do not ask for the like again, where that is offered
  reject INTERRUPT [message…]        refuse a tool call, and say why
  answer INTERRUPT text…             answer a question
    --values JSON                    with a value for each of its fields
    --dismiss                        leave it without an answer
  cancel RUN [--wait]                stop a run
  follow THREAD                      every event, as it comes
    --after N                        behind this cursor; or head, or oldest
    --kinds a,b --run ID             only these
    --until-idle                     end when the log is through and no run is live
  verify RUN                         prove that a run's events are complete

For all: --json (one JSON document, {"ok":true,…} or {"ok":false,"error":{code,message,remedy}}; a line each for follow),
--url URL (or TIDEMARK_URL). TIDEMARK_API_KEY is the key of a gateway that wants one.
Exit code: 0 done, 1 failed, 2 wrong usage.
`;
