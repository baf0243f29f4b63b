import type { RoutedTurn, RouterCall } from '../../model/router.ts';
import type { Services } from './services.ts';

/** Nothing takes the call back: its turn waits for the models. */
const UNENDING = new AbortController().signal;

/** Creates a router's way to the services, for one turn; undefined where no turn is about to run. */
export function callFromRouter(
  services: Pick<Services, 'call'>,
  { id, jid, group }: RoutedTurn,
): RouterCall['callService'] | undefined {
  if (id === undefined || jid === undefined) return undefined;
  const caller = { folder: group.folder, jid, turn: id, signal: UNENDING };
  return (service, request) => services.call(service, request, caller);
}
