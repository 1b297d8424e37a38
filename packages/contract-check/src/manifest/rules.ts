import { named, type RuleText } from '../change.ts';

/** The rules for manifests. */
export const manifestRules = named('manifest', {
  errorAdded: {
    what: 'an error code is added',
    verdict: 'minor',
    why: 'Error codes are open: clients must accept unknown codes.',
  },
  errorRemoved: {
    what: 'an error code is removed',
    verdict: 'major',
    why: 'A client that handles the code no longer receives it, and receives another response in its place.',
  },
  statusAdded: {
    what: 'an error gains a status for another media type',
    verdict: 'minor',
    why: 'Responses in the other media types are unchanged.',
  },
  statusChanged: {
    what: 'the status of an error is changed, or removed for a media type',
    verdict: 'major',
    why: 'Clients, proxies and retry policies act on the status.',
  },
  requestHeaderRequired: {
    what: 'a required request header is added, or an optional one becomes required',
    verdict: 'major',
    why: 'A request without the header is rejected.',
  },
  requestHeaderOptional: {
    what: 'an optional request header is added, or a required one becomes optional',
    verdict: 'minor',
    why: 'A request is accepted with or without the header.',
  },
  requestHeaderRemoved: {
    what: 'a request header is removed',
    verdict: 'major',
    why: 'The server silently ignores what a client requests with the header.',
  },
  responseHeaderAdded: {
    what: 'a response header is added, sent in more cases, or gains a fixed value',
    verdict: 'minor',
    why: 'Clients ignore unknown headers.',
  },
  responseHeaderRemoved: {
    what: 'a response header is removed, or sent in fewer or other cases',
    verdict: 'major',
    why: 'A client that reads the header does not find it.',
  },
  responseHeaderValueChanged: {
    what: 'the fixed value of a response header is changed or removed',
    verdict: 'major',
    why: 'A client that reads the header finds another value.',
  },
  limitTightened: {
    what: 'a limit is tightened: lowered, or raised if it is a minimum',
    verdict: 'major',
    why: 'A request that was within the limit is rejected.',
  },
  limitLoosened: {
    what: 'a limit is loosened',
    verdict: 'minor',
    why: 'Every request that was within the limit still is.',
  },
  limitAdded: {
    what: 'a limit is added',
    verdict: 'major',
    why: 'Requests that the contract did not limit may be rejected. If the limit is for something new, name it in `introducedWith`.',
  },
  limitAddedWithNew: {
    what: 'a limit is added together with what it limits',
    verdict: 'minor',
    why: 'No existing request can exceed it.',
  },
  limitRemoved: {
    what: 'a limit is no longer listed',
    verdict: 'major',
    why: 'Clients no longer know how much they may send, or how much they may receive.',
  },
  outputLimitRaised: {
    what: 'a limit on what clients receive is loosened',
    verdict: 'major',
    why: 'A client that is sized for the old limit receives more.',
  },
  outputLimitLowered: {
    what: 'a limit on what clients receive is tightened',
    verdict: 'minor',
    why: 'A client that is sized for the old limit still has enough room.',
  },
  enforcementChanged: {
    what: 'a published limit becomes enforced, or is no longer enforced (`enforced`)',
    verdict: 'minor',
    why: 'The limit is unchanged, so clients that respect it are not affected.',
  },
  boundedSideChanged: {
    what: 'a limit switches between input and output (`bounds`)',
    verdict: 'major',
    why: 'The limit no longer bounds what clients relied on.',
  },
  defaultChanged: {
    what: 'a default changes (a name that contains the word `default`)',
    verdict: 'major',
    why: 'Requests that omit the value silently get another result.',
  },
  weightRaised: {
    what: 'a cost weight, list size or page maximum is raised, or one of the first two added to an existing coordinate',
    verdict: 'major',
    why: 'An operation that was within the cost limit may exceed it.',
  },
  firstWeights: {
    what: 'the first cost weights and list sizes are added, and the cost limits of the baseline are not enforced',
    verdict: 'minor',
    why: 'No operation was rejected for its cost, and the limits were announced before they are enforced.',
  },
  weightLowered: {
    what: 'a cost weight, list size or page maximum is lowered, or a page maximum added',
    verdict: 'minor',
    why: 'Every operation that was within the cost limit still is.',
  },
  weightAddedWithNew: {
    what: 'a cost weight, list size or page maximum is added together with its coordinate',
    verdict: 'minor',
    why: 'No existing operation uses the coordinate.',
  },
  weightRemoved: {
    what: 'a cost weight, list size or page maximum is no longer listed',
    verdict: 'major',
    why: 'Clients no longer know the cost of their operations.',
  },
  sectionUndecided: {
    what: 'a section that this tool does not know is added, changed or removed',
    verdict: 'major',
    why: 'The effect of the change on clients is unknown. Set a verdict for the rule and the section in the configuration.',
  },
  descriptionChanged: {
    what: 'a description is added, changed or removed',
    verdict: 'patch',
    why: 'Documentation only: requests and responses are unchanged.',
  },
} as const satisfies Record<string, RuleText>);
