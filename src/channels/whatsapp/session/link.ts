import { openInbox } from '../inbound/inbox.ts';
import { loadBaileys } from './baileys.ts';
import { hasPairing, wasRemoved } from './credentials.ts';
import { openLinkDatabase } from './link-database.ts';
import { REMOVED, UNPAIRED } from './outcome.ts';
import { type Link, type LinkOptions, WhatsAppSession } from './session.ts';

/**
 * Opens the stored pairing and begins to connect; the status reports the progress.
 *
 * @returns null without a pairing; the status says so
 * @throws WhatsAppError IN_USE
 */
export async function openLink(options: LinkOptions): Promise<Link | null> {
  const { settings, events, clock } = options;
  const linkDatabase = openLinkDatabase(settings.dataDir, clock.now);
  if (!hasPairing(linkDatabase)) {
    const status = wasRemoved(linkDatabase) ? REMOVED : UNPAIRED;
    linkDatabase.close();
    events.onStatus(status);
    return null;
  }
  try {
    const baileys = await loadBaileys();
    const inbox = openInbox(linkDatabase, baileys);
    const link = new WhatsAppSession({
      ...options,
      linkDatabase,
      baileys,
      inbox,
      notYetStored: await inbox.notYetStored(),
    });
    await link.introduceOwner();
    link.start();
    return link;
  } catch (error) {
    linkDatabase.close();
    throw error;
  }
}
