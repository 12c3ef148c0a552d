import type { PresenterContext } from '../../clients/cli/presenter.ts';
import { RunFold } from '../../clients/typescript/run-fold.ts';
import { finalText } from '../../clients/typescript/run-text.ts';
import { defineExtension } from '../../contract/extensions/extension.ts';

/**
 * A presenter of one's own: says one prompt, lets nothing be done that would need a person, and writes the answer as a Markdown page with the tools that were used.
 *
 *     npm run chat -- --extension ./examples/presenter-markdown/markdown.ts --presenter markdown "Hello" > answer.md
 */
export default defineExtension((api) => {
  api.register('presenter', {
    name: 'markdown',
    init({ prompt }: PresenterContext) {
      if (prompt === null) throw new Error('give a prompt');
    },
    async run({ session, prompt, streams, signal, exitWith }: PresenterContext) {
      const { run } = await session.submit(prompt ?? '');
      const fold = new RunFold();
      const tools: string[] = [];
      for await (const item of session.items({ signal })) {
        if (item.type === 'event' && fold.add(item.event) && item.event.kind === 'tool.started')
          tools.push(item.event.name);
        if (item.type === 'complete' && item.complete.runId === run.run_id) break;
        if (item.type !== 'event') continue;
        if (item.event.kind === 'approval.requested') {
          await session.resolve(item.event.approvalId, { decision: 'reject', message: 'Nobody is here to decide.' });
        }
        if (item.event.kind === 'question.requested') await session.resolve(item.event.questionId, { dismissed: true });
      }
      const { status } = await session.client.runs.wait(run.run_id);
      streams.output.write(
        `# ${prompt ?? ''}\n\n${finalText(fold.events())}\n\n${tools.map((name) => `- ${name}\n`).join('')}`,
      );
      exitWith(status === 'completed' ? 0 : 1);
    },
  });
});
