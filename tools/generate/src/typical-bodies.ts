import { readEventVersions, typicalBodyPath } from './event-versions.ts';
import { banner, type Generated, literalOf } from './generated.ts';
import { readText } from './workspace-files.ts';

/** What `webhook-receiver` has of typical bodies: that of a test event, which every service has, and all of them for its own tests. */
export function typicalBodies(): Generated {
  const entries = readEventVersions().map(({ type, versions }) => {
    const bodies = versions.map(({ version }) => {
      const body = JSON.stringify(JSON.parse(readText(typicalBodyPath(type, version))), null, 2);
      return `    '${version}': ${body.replaceAll('\n', '\n    ')},\n`;
    });
    return `  '${type}': {\n${bodies.join('')}  },\n`;
  });
  const all = `${banner}\n/** A typical body of each event type and version, from the fixtures of the contract. */\nexport const typicalBodies = {\n${entries.join('')}} as const;\n`;
  const { type, version, data } = JSON.parse(readText(typicalBodyPath('webhook.test', '2026-11-01')));
  const test = `${banner}\n/** What every service sends as a test event. */\nexport const testEvent = ${literalOf({ type, version, data })} as const;\n`;
  const [source, tests] = ['src', 'test'].map((path) => `packages/webhook-receiver/${path}/generated`);
  return {
    files: new Map([
      [`${tests}/typical-bodies.ts`, all],
      [`${source}/test-event.ts`, test],
    ]),
    folders: [`${source}`, `${tests}`],
  };
}
