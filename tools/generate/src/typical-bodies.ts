import { readEventVersions, typicalBodyPath } from './event-versions.ts';
import { banner, type Generated } from './generated.ts';
import { readText } from './workspace-files.ts';

/** The typical bodies that `webhook-receiver` offers for tests, from the fixtures of the payloads. */
export function typicalBodies(): Generated {
  const entries = readEventVersions().map(({ type, versions }) => {
    const bodies = versions.map(({ version }) => {
      const body = JSON.stringify(JSON.parse(readText(typicalBodyPath(type, version))), null, 2);
      return `    '${version}': ${body.replaceAll('\n', '\n    ')},\n`;
    });
    return `  '${type}': {\n${bodies.join('')}  },\n`;
  });
  const text = `${banner}\n/** A typical body of each event type and version, from the fixtures of the contract. */\nexport const typicalBodies = {\n${entries.join('')}} as const;\n`;
  const folder = 'packages/webhook-receiver/src/generated';
  return { files: new Map([[`${folder}/typical-bodies.ts`, text]]), folders: [folder] };
}
