import { levelOf, placeOf, reasonsOf, type Group, type Outcome } from './outcome.ts';

/** Renders JUnit XML: one suite for each package, one case for each change, and one for the declared bump. */
export function renderJunit(outcome: Outcome): string[] {
  const suites = outcome.groups.flatMap(renderSuite);
  const expired = outcome.exceptions.filter(({ status }) => status === 'expired');
  if (expired.length > 0) {
    const cases = expired.map(({ package: name, coordinate, expiresOn }) =>
      testCase(`${name} ${coordinate}`, 'exceptions', failure(`The exception expired after ${expiresOn}.`, '')),
    );
    suites.push(...suite('exceptions', cases));
  }
  return ['<?xml version="1.0" encoding="UTF-8"?>', '<testsuites name="contract-check">', ...suites, '</testsuites>'];
}

function renderSuite(group: Group): string[] {
  const { name, problems, verdict, declared } = group;
  const changes = group.changes.map((change) => {
    const text = `${change.message}\n${reasonsOf(change)}\n${placeOf(change.location)}`;
    const body =
      levelOf(change, group) === 'error' ? failure(`${change.verdict}: ${change.message}`, text) : output(text);
    return testCase(change.coordinate, change.rule, body);
  });
  const reasons = problems.map(({ message, remedy }) => failure(message, `To fix: ${remedy}`)).join('');
  const declaredCase = testCase(
    'declared bump',
    'contract-check',
    reasons || output(`${declared ?? 'none'} for ${verdict}`),
  );
  return suite(name ?? 'contract', [...changes, declaredCase]);
}

function suite(name: string, cases: readonly ReturnType<typeof testCase>[]): string[] {
  const failed = cases.filter((each) => each.failed).length;
  const open = `  <testsuite name="${escape(name)}" tests="${cases.length}" failures="${failed}" errors="0" skipped="0" time="0">`;
  return [open, ...cases.map(({ xml }) => xml), '  </testsuite>'];
}

function testCase(name: string, className: string, body: string) {
  const xml = `    <testcase name="${escape(name)}" classname="${escape(className)}" time="0">${body}</testcase>`;
  return { xml, failed: body.startsWith('<failure') };
}

function failure(message: string, text: string): string {
  return `<failure message="${escape(message)}" type="contract-check">${escape(text)}</failure>`;
}

function output(text: string): string {
  return `<system-out>${escape(text)}</system-out>`;
}

/** Escapes text for elements and attributes, including line ends, and replaces the characters that XML 1.0 does not allow. */
function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/[\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`)
    .replaceAll(/[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\u{FFFD}');
}
