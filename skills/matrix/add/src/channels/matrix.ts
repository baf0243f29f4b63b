import {
  type Channel,
  type ChannelContext,
  type ChannelEvents,
  type ChannelStatus,
  defineChannel,
  type FetchedAttachment,
  type OutboundDraft,
  type OutboundMessage,
  type Person,
} from './channel.ts';
import { Connection } from './kit/connection.ts';
import { draftText } from './kit/draft-text.ts';
import { dropFetched } from './kit/fetched-file.ts';
import type { SentMessages } from './kit/sent-messages.ts';
import { accessProblem } from './matrix/access.ts';
import { type Account, openAccount } from './matrix/account.ts';
import { CAPABILITIES } from './matrix/capabilities.ts';
import { MatrixError } from './matrix/error.ts';
import { explainConnect } from './matrix/failure.ts';
import { isMatrixJid, isUserId } from './matrix/jid.ts';
import { type Books, openBooks } from './matrix/records/books.ts';
import { fetchedFolder } from './matrix/records/file-references.ts';
import { accountOf, MatrixEnvironment, type MatrixSettings } from './matrix/settings.ts';

/** Matrix through an account of the assistant's. Silent until MATRIX_HOMESERVER and MATRIX_TOKEN are set. */
export const channel = defineChannel({
  name: 'matrix',
  needs: ['MATRIX_HOMESERVER', 'MATRIX_TOKEN'],
  settings: MatrixEnvironment,
  create({ settings, assistantName, log, clock, dataDir, openDatabase }) {
    const account = accountOf(settings);
    if (account === null) return null;
    const opened = openBooks(openDatabase, () => clock.now());
    return new MatrixChannel(account, { assistantName, log, clock, dataDir, ...opened });
  },
});

type Parts = Pick<ChannelContext, 'assistantName' | 'log' | 'clock' | 'dataDir'> & {
  readonly books: Books;
  readonly sent: SentMessages;
};

class MatrixChannel implements Channel {
  readonly name = 'matrix';
  readonly allowSetting = 'MATRIX_ALLOW_FROM';
  readonly capabilities = CAPABILITIES;
  readonly #parts: Parts;
  readonly #connection: Connection;
  /** From the first connection to `disconnect`. */
  #account: Account | null = null;

  constructor(settings: MatrixSettings, parts: Parts) {
    this.#parts = parts;
    this.#connection = new Connection({
      title: 'The homeserver',
      clock: parts.clock,
      problem: accessProblem(settings),
      explain: explainConnect,
      open: async (events, signal) => {
        this.#account ??= await openAccount({ ...parts, settings });
        return await this.#account.listen(events, signal);
      },
    });
  }

  async connect(events: ChannelEvents): Promise<void> {
    dropFetched(fetchedFolder(this.#parts.dataDir));
    await this.#connection.connect(events);
  }

  async disconnect(): Promise<void> {
    await this.#connection.disconnect();
    const account = this.#account;
    this.#account = null;
    await account?.close();
  }

  async send(message: OutboundMessage): Promise<void> {
    await this.#connected().delivery.send(message);
  }

  draft({ activity, ...draft }: OutboundDraft): Promise<void> {
    return this.send({ ...draft, text: draftText({ text: draft.text, activity }) });
  }

  async takeBack(jid: string, id: string): Promise<void> {
    await this.#connected().takeBack(jid, id);
  }

  async fetchAttachment(jid: string, messageId: string): Promise<FetchedAttachment> {
    const { books, dataDir } = this.#parts;
    const file = books.files.of(jid, messageId);
    if (file === null) {
      const text = `The file of message ${messageId} is not known any more. Ask for it to be sent again.`;
      throw new MatrixError('FILE_UNKNOWN', text);
    }
    return await this.#connected().fetchFile(file, fetchedFolder(dataDir));
  }

  forgetChat(jid: string): void {
    const { books, sent } = this.#parts;
    sent.forgetChat(jid);
    books.files.forgetChat(jid);
    books.attempts.forgetChat(jid);
  }

  async setTyping(jid: string, isTyping: boolean): Promise<void> {
    await this.#account?.showTyping(jid, isTyping);
  }

  ownsJid(jid: string): boolean {
    return isMatrixJid(jid);
  }

  personOf(typed: string): Person | null {
    const id = typed.trim();
    return isUserId(id) ? { sender: id, chat: null } : null;
  }

  status(): ChannelStatus {
    return this.#connection.status();
  }

  #connected(): Account {
    if (this.#account !== null) return this.#account;
    const text = 'Matrix is not connected; the message was not sent.';
    throw new MatrixError('NOT_CONNECTED', text);
  }
}
