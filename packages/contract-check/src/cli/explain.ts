import { rulesById } from '../rules.ts';
import { didYouMean } from '../suggest.ts';
import { UsageError } from './usage-error.ts';

/**
 * Describes a rule: what it covers, its verdict and the reason.
 *
 * @throws {UsageError} when there is no such rule.
 */
export function explainRule(id: string): string {
  const rule = rulesById.get(id);
  if (rule === undefined) {
    throw new UsageError('explain', `unknown rule ${JSON.stringify(id)}${didYouMean(id, rulesById.keys())}`);
  }
  const verdicts =
    'why' in rule
      ? [`${rule.verdict}: ${rule.why}`]
      : [
          `producer: ${rule.producer.verdict}. ${rule.producer.why}`,
          `consumer: ${rule.consumer.verdict}. ${rule.consumer.why}`,
        ];
  return [rule.id, `  ${rule.what}`, ...verdicts.map((line) => `  ${line}`)].join('\n');
}
