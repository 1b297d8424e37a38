import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, test } from 'vitest';
import { folderForFile, writeIn } from '../../test/support/folders.ts';
import { run } from './run.ts';

const folder = folderForFile();
const file = (name: string, text: string) => writeIn(folder, name, text);

const from = file(
  'old.graphql',
  'type Query {\n  a(x: String = "<&|,:%`"): String!\n  b: E @later\n}\nenum E {\n  ONE\n}\n',
);
const to = file(
  'new, one.graphql',
  'type Query {\n  a(x: String = "]]>\\u0001"): String\n  b: E @later\n}\nenum E {\n  ONE\n  TWO\n}\n',
);

async function output(format: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await run(['graphql', '--from', from, '--to', to, '--format', format, ...args]);
  expect(stderr).toBe('');
  return stdout.replaceAll(folder, 'FOLDER');
}

describe('github', () => {
  test('annotates the lines, escapes its syntax, and ends with the summary', async () => {
    expect((await output('github', '--declared', 'minor')).split('\n')).toEqual([
      '::error file=FOLDER/new%2C one.graphql,line=2,title=major%3A Query.a (graphql/outputWidened)::The type changed from String! to String. A client that relies on a value may receive null.',
      '::error file=FOLDER/new%2C one.graphql,line=2,title=major%3A Query.a(x%3A) (graphql/defaultChanged)::The default changed from "<&|,:%25`" to "]]>\\u0001". Operations that omit it silently get another result.',
      '::notice file=FOLDER/new%2C one.graphql,line=7,title=minor%3A E.TWO (graphql/enumValueAddedOutput)::The value was added. Outputs are open: clients must accept unknown enum values.',
      '::notice file=FOLDER/new%2C one.graphql,line=3,title=contract-check::The schema does not define the directive @later. Only its applications are compared.',
      '::error title=contract-check::the changes need a major bump, but only a minor bump is declared.%0ATo fix: pass --declared major, and declare a major bump of PACKAGE:%0Apnpm changeset add --major PACKAGE -m "Describe the change for your users"',
      'Failed: the changes need a major bump, but only a minor bump is declared.',
      '',
    ]);
  });

  test('warns of major changes if no bump is declared', async () => {
    const lines = (await output('github')).split('\n').map((line) => line.split(' ', 1)[0]);
    expect(lines).toEqual(['::warning', '::warning', '::notice', '::notice', 'Verdict:', '']);
  });
});

const readSarif = async (...args: string[]) => JSON.parse(await output('sarif', ...args)).runs[0];

const fingerprints = (results: { partialFingerprints: object }[]) => results.map((each) => each.partialFingerprints);

describe('sarif', () => {
  test('reports each change with its rule, its level and its line', async () => {
    const { results, tool } = await readSarif('--declared', 'minor');
    expect(
      results.map((result: { ruleId: string; ruleIndex: number; level: string; locations: object[] }) => [
        result.ruleId,
        tool.driver.rules[result.ruleIndex].id,
        result.level,
        result.locations[0],
      ]),
    ).toEqual([
      ['graphql/outputWidened', 'graphql/outputWidened', 'error', placed(2, 'Query.a')],
      ['graphql/defaultChanged', 'graphql/defaultChanged', 'error', placed(2, 'Query.a(x:)')],
      ['graphql/enumValueAddedOutput', 'graphql/enumValueAddedOutput', 'note', placed(7, 'E.TWO')],
    ]);
  });

  test('keeps the fingerprint of a change that moves to another line', async () => {
    const moved = file(
      'moved.graphql',
      `# A comment.\n\ntype Query {\n  a(x: String = "]]>\\u0001"): String\n  b: E @later\n}\nenum E { ONE TWO }\n`,
    );
    const { stdout } = await run(['graphql', '--from', from, '--to', moved, '--format', 'sarif']);
    expect(fingerprints(JSON.parse(stdout).runs[0].results)).toEqual(fingerprints((await readSarif()).results));
  });
});

function placed(startLine: number, fullyQualifiedName: string): object {
  return {
    physicalLocation: {
      artifactLocation: { uri: 'file://FOLDER/new,%20one.graphql' },
      region: { startLine },
    },
    logicalLocations: [{ fullyQualifiedName }],
  };
}

test('markdown shows a table whose cells contain pipes and backticks', async () => {
  const [summary, , heading, , , , ...rows] = (await output('markdown', '--declared', 'minor')).split('\n');
  expect(summary).toBe('**Failed: the changes need a major bump, but only a minor bump is declared.**');
  expect(heading).toBe('### Contract: major, declared bump minor (compared with `FOLDER/old.graphql`)');
  expect(rows[1]).toBe(
    '| **major** | `Query.a(x:)` | The default changed from "\\<&\\|,:%\\`" to "\\]\\]\\>\\\\u0001". Operations that omit it silently get another result. | `FOLDER/new, one.graphql:2` | `graphql/defaultChanged` |',
  );
});

describe('junit', () => {
  test('is valid XML that counts the failures', async () => {
    const xml = await output('junit', '--declared', 'minor');
    expect(XMLValidator.validate(xml)).toBe(true);
    const { testsuites } = new XMLParser({ ignoreAttributes: false, attributeNamePrefix: '' }).parse(xml);
    expect(testsuites.testsuite).toMatchObject({ name: 'contract', tests: '4', failures: '3', errors: '0' });
    expect(
      testsuites.testsuite.testcase.map((each: { name: string; classname: string; failure?: { message: string } }) => [
        each.name,
        each.classname,
        each.failure?.message,
      ]),
    ).toEqual([
      ['Query.a', 'graphql/outputWidened', 'major: The type changed from String! to String.'],
      ['Query.a(x:)', 'graphql/defaultChanged', 'major: The default changed from "<&|,:%`" to "]]>\\u0001".'],
      ['E.TWO', 'graphql/enumValueAddedOutput', undefined],
      ['declared bump', 'contract-check', 'the changes need a major bump, but only a minor bump is declared.'],
    ]);
  });

  test('is valid XML if a text contains characters that XML does not allow', async () => {
    const [old, now] = ['a', '\u0000\u0001\uFFFE<&>"\'\uD800'].map((value, i) =>
      file(`value-${i}.json`, JSON.stringify({ const: value })),
    );
    const args = ['--direction', 'both', '--format', 'junit', '--from', old ?? '', '--to', now ?? ''];
    const { stdout } = await run(['json-schema', ...args]);
    // oxlint-disable-next-line no-control-regex -- the characters that must not be in the output
    expect(stdout).not.toMatch(/[\u0000\u0001\uFFFE]/);
    expect(XMLValidator.validate(stdout)).toBe(true);
  });
});

describe('a workspace', () => {
  const root = join(folder, 'workspace');
  file('workspace/api/package.json', '{ "name": "@books/api", "version": "1.0.0" }');
  file('workspace/api/versions/1.graphql', 'type Query {\n  a: Int\n  b: Int\n}\n');
  cpSync(join(root, 'api'), join(root, '.released'), { recursive: true });
  file('workspace/api/versions/1.graphql', 'type Query {\n  a: Int\n}\n');

  test.each(['text', 'json', 'github', 'sarif', 'markdown', 'junit'])(
    '%s names the package and the problem',
    async (format) => {
      const args = ['workspace', '--root', root, '--baseline', join(root, '.released'), '--format', format];
      const { exitCode, stdout } = await run(args);
      expect(exitCode).toBe(1);
      expect(stdout).toContain('@books/api');
      expect(stdout).toContain('versions/1.graphql breaks a released version, which no bump allows.');
    },
  );
});
