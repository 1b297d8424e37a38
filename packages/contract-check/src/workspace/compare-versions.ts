import { changeBy, type Change, type Rule } from '../change.ts';
import { describeDifference } from '../describe-difference.ts';
import { workspaceRules } from './rules.ts';
import type { VersionState, VersionStatus } from './version-status.ts';

/** Compares the states of a version that has contract files in both snapshots. */
export function compareVersionStates(version: string, from: VersionState, to: VersionState): Change[] {
  const changes: Change[] = [];
  const statusRule = ruleOfStatus(from.status, to.status);
  if (statusRule !== null) {
    changes.push(changeBy(statusRule, version, `The status changed from ${from.status} to ${to.status}.`));
  }
  const sunsetRule = ruleOfSunset(from, to);
  if (sunsetRule !== null) {
    changes.push(changeBy(sunsetRule, version, describeDifference('The sunset', from.sunsetOn, to.sunsetOn)));
  }
  return changes;
}

function ruleOfStatus(from: VersionStatus, to: VersionStatus): Rule | null {
  if (from === to) return null;
  if (to === 'retired') return from === 'preview' ? workspaceRules.previewRemoved : workspaceRules.versionRetired;
  if (to === 'preview') return workspaceRules.versionWithdrawn;
  if (to === 'deprecated') return workspaceRules.versionDeprecated;
  return from === 'preview' ? workspaceRules.versionReleased : workspaceRules.deprecationRevoked;
}

function ruleOfSunset(from: VersionState, to: VersionState): Rule | null {
  if (from.sunsetOn === to.sunsetOn || from.status === 'preview') return null;
  if (to.sunsetOn === null || (from.sunsetOn !== null && to.sunsetOn > from.sunsetOn))
    return workspaceRules.sunsetLater;
  // The deprecation itself sets the sunset.
  if (from.sunsetOn === null && from.status !== 'deprecated') return null;
  return workspaceRules.sunsetEarlier;
}
