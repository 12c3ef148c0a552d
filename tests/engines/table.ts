import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RECORDS, type EngineRecord } from './record.ts';
import { SCENARIOS, type ScenarioName } from './subject.ts';

/** Where the table stands in the documentation. */
const DOCUMENT = join(import.meta.dirname, '../../docs/engines.md');
const MARK = '<!-- table -->';

/** The documentation as it is, and as its records make it. */
export async function renderedDocument(): Promise<{ readonly now: string; readonly should: string }> {
  const now = await readFile(DOCUMENT, 'utf8');
  const [before, , after, ...more] = now.split(MARK);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new Error(`${DOCUMENT} must hold ${MARK} twice. Put the table between the two.`);
  }
  return { now, should: [before, `\n${tableOf(await readRecords())}\n`, after].join(MARK) };
}

/** Scenarios down, engines across: `yes` for what passed, and for the rest why there is nothing to pass. */
export function tableOf(records: readonly EngineRecord[]): string {
  const reasons: string[] = [];
  const cell = (outcome: EngineRecord['scenarios'][ScenarioName]): string => {
    if (outcome === 'passed') return 'yes';
    if (outcome === undefined || outcome === 'failed') return '';
    const { cannot } = outcome;
    if (!reasons.includes(cannot)) reasons.push(cannot);
    return `– ${noteOf(reasons.indexOf(cannot))}`;
  };
  const rows = Object.entries(SCENARIOS).map(([name, title]) => {
    return row([title, ...records.map(({ scenarios }) => cell(scenarios[name as ScenarioName]))]);
  });
  const notes = reasons.map((reason, n) => `${noteOf(n)} ${reason}`).join(' · ');
  const head = [row(['', ...records.map(({ engine }) => `\`${engine}\``)]), row(['---', ...records.map(() => '---')])];
  return [...head, ...rows, ...(notes === '' ? [] : ['', notes])].join('\n');
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function noteOf(index: number): string {
  return `(${String(index + 1)})`;
}

async function readRecords(): Promise<EngineRecord[]> {
  const files = (await readdir(RECORDS)).filter((name) => name.endsWith('.json')).toSorted();
  return await Promise.all(
    files.map(async (file) => JSON.parse(await readFile(join(RECORDS, file), 'utf8')) as EngineRecord),
  );
}

if (import.meta.main) await writeFile(DOCUMENT, (await renderedDocument()).should);
