import { banner, type Generated } from './generated.ts';
import { findFiles, readText } from './workspace-files.ts';

/** The typical bodies that `webhook-receiver` offers for tests, from the fixtures of the payloads. */
export function typicalBodies(): Generated {
  const byType = new Map<string, string[]>();
  for (const path of findFiles('packages/webhook-events/fixtures/*/*/accept/typical.json')) {
    const [type = '', version = ''] = path.split('/').slice(3);
    const body = JSON.stringify(JSON.parse(readText(path)), null, 2).replaceAll('\n', '\n    ');
    byType.set(type, [...(byType.get(type) ?? []), `    '${version}': ${body},\n`]);
  }
  const entries = Array.from(byType, ([type, bodies]) => `  '${type}': {\n${bodies.join('')}  },\n`);
  const text = `${banner}\n/** A typical body of each event type and version, from the fixtures of the contract. */\nexport const typicalBodies = {\n${entries.join('')}} as const;\n`;
  const folder = 'packages/webhook-receiver/src/generated';
  return { files: new Map([[`${folder}/typical-bodies.ts`, text]]), folders: [folder] };
}
