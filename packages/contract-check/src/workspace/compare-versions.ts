import { changeBy, type Rule, type UnlocatedChange } from '../change.ts';
import { describeDifference } from '../differences.ts';
import { workspaceRules } from './rules.ts';
import { addMonths, unlisted, type VersionState } from './version-status.ts';

/** The facts of a package that the lifecycle rules depend on. */
export interface Lifecycle {
  /** The day of the release, `YYYY-MM-DD` in UTC. */
  readonly today: string;
  /** The months between a deprecation and its sunset, at least. */
  readonly minimumLifetimeMonths: number;
}

/** Compares the states of a version. `from` or `to` is null if the version as a whole was added or removed. */
export function compareVersionStates(
  version: string,
  from: VersionState | null,
  to: VersionState | null,
  lifecycle: Lifecycle,
): UnlocatedChange[] {
  if (from === null) {
    const added = changeBy(workspaceRules.versionAdded, version, 'The version was added.');
    return [added, ...(to?.status === 'deprecated' ? compareVersionStates(version, unlisted, to, lifecycle) : [])];
  }
  if (to === null) return [changeBy(ruleOfRetirement(from, lifecycle), version, 'The version was removed.')];
  const changes: UnlocatedChange[] = [];
  const statusRule = ruleOfStatus(from, to, lifecycle);
  if (statusRule !== null) {
    changes.push(changeBy(statusRule, version, `The status changed from ${from.status} to ${to.status}.`));
  }
  const deprecationRule = ruleOfDeprecation(from, to, lifecycle);
  if (deprecationRule !== null) {
    const message = describeDifference('The day of the deprecation', from.deprecatedOn, to.deprecatedOn);
    changes.push(changeBy(deprecationRule, version, `${message} The release is on ${lifecycle.today}.`));
  }
  for (const rule of rulesOfSunset(from, to, lifecycle)) {
    changes.push(changeBy(rule, version, describeDifference('The sunset', from.sunsetOn, to.sunsetOn)));
  }
  return changes;
}

function ruleOfStatus(from: VersionState, to: VersionState, lifecycle: Lifecycle): Rule | null {
  if (from.status === to.status) return null;
  if (to.status === 'retired') return ruleOfRetirement(from, lifecycle);
  if (to.status === 'preview') return workspaceRules.versionWithdrawn;
  if (to.status === 'deprecated') return workspaceRules.versionDeprecated;
  return from.status === 'preview' ? workspaceRules.versionReleased : workspaceRules.deprecationRevoked;
}

function ruleOfRetirement({ status, sunsetOn }: VersionState, { today }: Lifecycle): Rule {
  if (status === 'preview') return workspaceRules.previewRemoved;
  const announced = status === 'retired' || (status === 'deprecated' && sunsetOn !== null && sunsetOn <= today);
  return announced ? workspaceRules.versionRetired : workspaceRules.retiredEarly;
}

function ruleOfDeprecation(from: VersionState, to: VersionState, { today }: Lifecycle): Rule | null {
  if (to.status !== 'deprecated' || to.deprecatedOn === null || to.deprecatedOn === from.deprecatedOn) return null;
  if (to.deprecatedOn < today) return workspaceRules.deprecationBackdated;
  // A new deprecation is a change of the status.
  return from.status === 'deprecated' ? workspaceRules.deprecationMoved : null;
}

function rulesOfSunset(from: VersionState, to: VersionState, lifecycle: Lifecycle): Rule[] {
  const isNew = from.status !== 'deprecated';
  if (from.status === 'preview' && to.status !== 'deprecated') return [];
  if (to.sunsetOn === null) return from.sunsetOn === null ? [] : [workspaceRules.sunsetLater];
  if (to.status !== 'deprecated') {
    return from.sunsetOn !== null && to.sunsetOn < from.sunsetOn ? [workspaceRules.sunsetEarlier] : [];
  }
  if (!isNew && from.sunsetOn !== null) {
    if (to.sunsetOn === from.sunsetOn) return [];
    return [to.sunsetOn < from.sunsetOn ? workspaceRules.sunsetEarlier : workspaceRules.sunsetLater];
  }
  const announcedOn = isNew ? (to.deprecatedOn ?? lifecycle.today) : lifecycle.today;
  const tooShort = to.sunsetOn < addMonths(announcedOn, lifecycle.minimumLifetimeMonths);
  return [...(isNew ? [] : [workspaceRules.sunsetAnnounced]), ...(tooShort ? [workspaceRules.lifetimeTooShort] : [])];
}
