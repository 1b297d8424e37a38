import { major, minor, named, patch } from '../change.ts';

/** The rules for manifests. */
export const manifestRules = named('manifest', {
  errorAdded: minor('an error code is added', 'Error codes are open: clients must accept unknown codes.'),
  errorRemoved: major(
    'an error code is removed',
    'A client that handles the code no longer receives it, and receives another response in its place.',
  ),
  statusAdded: minor(
    'an error gains a status for another media type',
    'Responses in the other media types are unchanged.',
  ),
  statusChanged: major(
    'the status of an error is changed, or removed for a media type',
    'Clients, proxies and retry policies act on the status.',
  ),
  requestHeaderRequired: major(
    'a required request header is added, or an optional one becomes required',
    'A request without the header is rejected.',
  ),
  requestHeaderOptional: minor(
    'an optional request header is added, or a required one becomes optional',
    'A request is accepted with or without the header.',
  ),
  requestHeaderRemoved: major(
    'a request header is removed',
    'The server silently ignores what a client requests with the header.',
  ),
  responseHeaderAdded: minor(
    'a response header is added, sent in more cases, or gains a fixed value',
    'Clients ignore unknown headers.',
  ),
  responseHeaderRemoved: major(
    'a response header is removed, or sent in fewer or other cases',
    'A client that reads the header does not find it.',
  ),
  responseHeaderValueChanged: major(
    'the fixed value of a response header is changed or removed',
    'A client that reads the header finds another value.',
  ),
  limitTightened: major(
    'a limit is tightened: lowered, or raised if it is a minimum',
    'A request that was within the limit is rejected.',
  ),
  limitLoosened: minor('a limit is loosened', 'Every request that was within the limit still is.'),
  limitAdded: major(
    'a limit is added',
    'Requests that the contract did not limit may be rejected. If the limit is for something new, name it in `introducedWith`.',
  ),
  limitAddedWithNew: minor('a limit is added together with what it limits', 'No existing request can exceed it.'),
  limitRemoved: major(
    'a limit is no longer listed',
    'Clients no longer know how much they may send, or how much they may receive.',
  ),
  outputLimitRaised: major(
    'a limit on what clients receive is loosened',
    'A client that is sized for the old limit receives more.',
  ),
  outputLimitLowered: minor(
    'a limit on what clients receive is tightened',
    'A client that is sized for the old limit still has enough room.',
  ),
  enforcementChanged: minor(
    'a published limit becomes enforced, or is no longer enforced (`enforced`)',
    'The limit is unchanged, so clients that respect it are not affected.',
  ),
  boundedSideChanged: major(
    'a limit switches between input and output (`bounds`)',
    'The limit no longer bounds what clients relied on.',
  ),
  defaultChanged: major(
    'a default changes (a name that contains the word `default`)',
    'Requests that omit the value silently get another result.',
  ),
  abilityRaised: major(
    'a field needs a further or another ability',
    'Credentials that had the abilities of the contract are refused.',
  ),
  firstAbilities: minor(
    'the first abilities are listed, and the baseline has no section `abilities`',
    'Before, credentials had no abilities, so none of them lacks one.',
  ),
  abilityLowered: minor('a field needs fewer abilities', 'Credentials that were accepted still are.'),
  abilitiesRemoved: major(
    'the section `abilities` is removed',
    'Clients no longer know what their credentials need, and what is listed next cannot be compared.',
  ),
  abilityAddedWithNew: minor(
    'an ability is listed together with the field that needs it',
    'No existing operation uses the field.',
  ),
  weightRaised: major(
    'a cost weight, list size or page maximum is raised, or one of the first two added to an existing coordinate',
    'An operation that was within the cost limit may exceed it.',
  ),
  firstWeights: minor(
    'the first cost weights and list sizes are added, and the cost limits of the baseline are not enforced',
    'No operation was rejected for its cost, and the limits were announced before they are enforced.',
  ),
  weightLowered: minor(
    'a cost weight, list size or page maximum is lowered, or a page maximum added',
    'Every operation that was within the cost limit still is.',
  ),
  weightAddedWithNew: minor(
    'a cost weight, list size or page maximum is added together with its coordinate',
    'No existing operation uses the coordinate.',
  ),
  weightRemoved: major(
    'a cost weight, list size or page maximum is no longer listed',
    'Clients no longer know the cost of their operations.',
  ),
  sectionUndecided: major(
    'a section that this tool does not know is added, changed or removed',
    'The effect of the change on clients is unknown. Set a verdict for the rule and the section in the configuration.',
  ),
  descriptionChanged: patch(
    'a description is added, changed or removed',
    'Documentation only: requests and responses are unchanged.',
  ),
});
