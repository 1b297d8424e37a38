import { expiryText, levelOf, placeOf, reasonsOf, summaryOf, type Group, type Outcome } from './outcome.ts';

/** Lines of Markdown that belong together. An empty line separates blocks. */
type Block = readonly string[];

/** Renders GitHub Flavored Markdown, for a comment or a job summary. */
export function renderMarkdown(outcome: Outcome): string[] {
  const { groups, notices, exceptions } = outcome;
  const blocks = [
    [`**${escapeText(summaryOf(outcome))}**`],
    ...groups.flatMap(renderGroup),
    ...listUnder(
      '### Notices',
      notices.map(({ location, message }) => `- ${code(placeOf(location))}: ${escapeText(message)}`),
    ),
    ...listUnder(
      '### Exceptions',
      exceptions.map(({ package: name, coordinate, rule, reason, status, expiresOn, approvedBy }) => {
        const text = `${reason} Approved by ${approvedBy}. ${expiryText[status](expiresOn)}`;
        return `- ${escapeText(name)} ${code(coordinate)} (${code(rule)}): ${escapeText(text)}`;
      }),
    ),
  ];
  return blocks.flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

function listUnder(heading: string, items: Block): Block[] {
  return items.length === 0 ? [] : [[heading], items];
}

function renderGroup(group: Group): Block[] {
  const { name, baseline, verdict, declared, changes, problems } = group;
  const compared = baseline === null ? 'not released yet' : `compared with ${code(baseline)}`;
  const bump = declared === null ? '' : `, declared bump ${declared}`;
  const rows = changes.map((change) => {
    const { coordinate, message, location, rule } = change;
    const cells = [
      levelOf(change, group) === 'error' ? `**${change.verdict}**` : change.verdict,
      code(coordinate),
      `${escapeText(message)} ${escapeText(reasonsOf(change))}`,
      code(placeOf(location)),
      code(rule),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return [
    [`### ${name === null ? 'Contract' : escapeText(name)}: ${verdict}${bump} (${compared})`],
    rows.length === 0
      ? [baseline === null ? 'Every change is allowed.' : 'No changes.']
      : ['| Verdict | Element | Change | Place | Rule |', '| --- | --- | --- | --- | --- |', ...rows],
    ...problems.map(({ message, remedy }) => {
      const [first = '', ...commands] = remedy.split('\n');
      const block = commands.length === 0 ? [] : ['', '```sh', ...commands, '```'];
      return [`Failed: ${escapeText(message)} To fix: ${escapeText(first)}`, ...block];
    }),
  ];
}

/** A code span that may contain backticks. Tables end a cell at a pipe, even in a code span. */
function code(text: string): string {
  const fence = '`'.repeat(Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  const padding = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${padding}${oneLine(text).replaceAll('|', String.raw`\|`)}${padding}${fence}`;
}

function escapeText(text: string): string {
  return oneLine(text).replaceAll(/[\\`*_[\]<>|#]/g, String.raw`\$&`);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, ' ');
}
