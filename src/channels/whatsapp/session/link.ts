import { inboxIn } from '../inbound/inbox.ts';
import { loadBaileys } from './baileys.ts';
import { hasPairing, wasRemoved } from './credentials.ts';
import { REMOVED, UNPAIRED } from './outcome.ts';
import { type Link, type LinkOptions, PairedLink } from './session.ts';
import { openVault } from './vault.ts';

/**
 * Opens what is kept of the pairing and begins to connect; how that goes is told by status.
 *
 * @returns null where there is no pairing, which the status says
 * @throws WhatsAppError IN_USE
 */
export async function openLink(options: LinkOptions): Promise<Link | null> {
  const { settings, events } = options;
  const vault = openVault(settings.dataDir, Date.now());
  if (!hasPairing(vault)) {
    const status = wasRemoved(vault) ? REMOVED : UNPAIRED;
    vault.close();
    events.onStatus(status);
    return null;
  }
  try {
    const baileys = await loadBaileys();
    const inbox = inboxIn(vault, baileys);
    const link = new PairedLink({
      ...options,
      vault,
      baileys,
      inbox,
      left: await inbox.unacknowledged(),
    });
    await link.introduceOwner();
    link.start();
    return link;
  } catch (error) {
    vault.close();
    throw error;
  }
}
