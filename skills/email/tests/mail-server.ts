import type { Socket } from 'node:net';
import { createServer, type Server, type TLSSocket } from 'node:tls';
import { LoopbackListener } from '../../../src/testing/channel/far-server.ts';
import { CERTIFICATE, KEY } from '../../../src/testing/channel/loopback-certificate.ts';

export const USER = 'andy@example.org';
export const PASSWORD = 'a-word-of-its-own';

/** A mail in the mailbox. */
type Kept = {
  readonly uid: number;
  readonly source: Buffer;
  readonly structure: string;
  readonly size: number;
  readonly flags: Set<string>;
};

/** A mail that was sent: its envelope and its source. */
export type Posted = {
  readonly from: string;
  readonly to: readonly string[];
  readonly source: string;
};

/** A mail of one plain part, as IMAP describes it. */
export const PLAIN = '("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "8BIT" 10 1 NIL NIL NIL NIL)';

/** A session of IMAP. */
type Session = { readonly socket: TLSSocket; known: number; idleTag: string | null; isIn: boolean };

/** A mail provider on loopback: IMAP with IDLE, and SMTP, both over TLS and after a login. */
export class MailServer implements AsyncDisposable {
  readonly mails: Kept[] = [];
  readonly posted: Posted[] = [];
  readonly sentFolder: string[] = [];
  readonly refusedRecipients = new Set<string>();
  /** Commands of clients by IMAP, without passwords. */
  readonly said: string[] = [];
  uidValidity = 7;
  hasIdle = true;
  password = PASSWORD;
  /** The answer to the next mail in place of a yes; null cuts the line after it was taken. */
  nextAnswer: string | null | undefined = undefined;
  /** The next answer to FETCH is cut in half. */
  cutsFetch = false;
  #nextUid = 1;
  readonly #listener = new LoopbackListener(() => this.#makeServers());
  readonly #sessions = new Set<Session>();

  get imapPort(): number {
    return this.#listener.port(0);
  }

  get smtpPort(): number {
    return this.#listener.port(1);
  }

  /** Begins to listen; again at the same ports after `goDown`. */
  async comeUp(): Promise<this> {
    await this.#listener.comeUp();
    return this;
  }

  #makeServers(): readonly Server[] {
    const tls = { key: KEY, cert: CERTIFICATE };
    const imap = createServer(tls, (socket) => this.#speakImap(socket.setNoDelay()));
    const smtp = createServer(tls, (socket) => this.#speakSmtp(socket.setNoDelay()));
    for (const server of [imap, smtp]) server.on('tlsClientError', () => {});
    return [imap, smtp];
  }

  /** Drops all lines and takes no new ones. */
  goDown(): Promise<void> {
    return this.#listener.goDown();
  }

  cut(): void {
    this.#listener.cut();
  }

  /** From now on the password is another. */
  revoke(): void {
    this.password = 'another';
    this.cut();
  }

  /** A mail arrives. */
  deliver(source: string | Buffer, structure = PLAIN, size?: number): number {
    const content = Buffer.isBuffer(source)
      ? source
      : Buffer.from(source.replace(/\r?\n/g, '\r\n'));
    const uid = this.#nextUid++;
    this.mails.push({
      uid,
      source: content,
      structure,
      size: size ?? content.length,
      flags: new Set(),
    });
    this.#tell();
    return uid;
  }

  /** Another of the owner's clients deletes a mail. */
  expunge(uid: number): void {
    const at = this.mails.findIndex((mail) => mail.uid === uid);
    if (at < 0) return;
    this.mails.splice(at, 1);
    for (const session of this.#sessions) {
      if (session.idleTag === null) continue;
      session.socket.write(`* ${at + 1} EXPUNGE\r\n`);
      session.known = this.mails.length;
    }
  }

  /** The mailbox is made anew, as after a move to another machine: the numbers of mails mean nothing any more. */
  renumber(): void {
    this.uidValidity += 1;
    const kept = this.mails.splice(0);
    this.#nextUid = 100;
    for (const { uid: _, ...mail } of kept) this.mails.push({ ...mail, uid: this.#nextUid++ });
    this.cut();
  }

  /** Counts mails that no client has marked as seen. */
  get unseen(): number {
    return this.mails.filter(({ flags }) => !flags.has('\\Seen')).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.goDown();
  }

  #tell(): void {
    for (const session of this.#sessions) {
      if (session.idleTag !== null) this.#tellOne(session);
    }
  }

  #tellOne(session: Session): void {
    if (session.known === this.mails.length || !session.isIn) return;
    session.known = this.mails.length;
    session.socket.write(`* ${this.mails.length} EXISTS\r\n`);
  }

  #speakImap(socket: TLSSocket): void {
    const session: Session = { socket, known: 0, idleTag: null, isIn: false };
    this.#sessions.add(session);
    socket.on('close', () => this.#sessions.delete(session)).on('error', () => {});
    socket.write(`* OK [CAPABILITY ${this.#capabilities()}] ready\r\n`);
    eachLine(socket, (line) => {
      if (line.toUpperCase() === 'DONE') {
        socket.write(`${session.idleTag} OK done\r\n`);
        session.idleTag = null;
        return;
      }
      const [, tag = '*', command = ''] = /^(\S+) (.*)$/s.exec(line) ?? [];
      if (!/^(LOGIN|AUTHENTICATE)/i.test(command)) this.said.push(command);
      this.#answer(session, tag, command);
    });
  }

  #capabilities(): string {
    return `IMAP4rev1${this.hasIdle ? ' IDLE' : ''}`;
  }

  #answer(session: Session, tag: string, command: string): void {
    const { socket } = session;
    const say = (line: string) => socket.write(`${line}\r\n`);
    const word = command.toUpperCase();
    if (word === 'IDLE') {
      session.idleTag = tag;
      say('+ idling');
      this.#tellOne(session);
      return;
    }
    if (word.startsWith('LOGIN ')) {
      const [, password] = /"?([^\s"]+)"?$/.exec(command) ?? [];
      if (password !== this.password) return void say(`${tag} NO [AUTHENTICATIONFAILED] no`);
      say(`* CAPABILITY ${this.#capabilities()}`);
    } else if (word === 'CAPABILITY') say(`* CAPABILITY ${this.#capabilities()}`);
    else if (word.startsWith('LIST') || word.startsWith('LSUB')) {
      if (word.endsWith('""')) say('* LIST (\\Noselect) "/" ""');
      else {
        say('* LIST (\\HasNoChildren) "/" INBOX');
        say('* LIST (\\HasNoChildren \\Sent) "/" Sent');
      }
    } else if (/^(SELECT|EXAMINE)/.test(word)) {
      if (!/INBOX|SENT/.test(word)) return void say(`${tag} NO [NONEXISTENT] no such mailbox`);
      const isInbox = word.includes('INBOX');
      session.isIn = isInbox;
      session.known = isInbox ? this.mails.length : this.sentFolder.length;
      say('* FLAGS (\\Seen \\Answered)');
      say(`* ${session.known} EXISTS`);
      say(`* OK [UIDVALIDITY ${this.uidValidity}] ok`);
      say(`* OK [UIDNEXT ${this.#nextUid}] ok`);
      return void say(`${tag} OK [READ-WRITE] opened`);
    } else if (word.startsWith('UID SEARCH'))
      say(`* SEARCH ${this.#search(session, command).join(' ')}`);
    else if (/^(UID )?FETCH/.test(word)) {
      if (!this.#fetch(socket, word)) return;
    } else if (word.startsWith('UID STORE')) {
      for (const mail of this.#inRange(word.split(' ')[2] ?? '')) mail.flags.add('\\Seen');
    } else if (word === 'LOGOUT') say('* BYE');
    // News is told with an answer, but never with that to FETCH or STORE.
    if (/^(NOOP|UID SEARCH)/.test(word)) this.#tellOne(session);
    say(`${tag} OK done`);
  }

  #search(session: Session, command: string): readonly number[] {
    const wanted = /<[^>]+>/.exec(command)?.[0];
    if (!session.isIn) return this.sentFolder.includes(wanted ?? '') ? [1] : [];
    const range = /UID ([\d:*,]+)/i.exec(command.slice('UID SEARCH'.length))?.[1];
    return (range === undefined ? this.mails : this.#inRange(range)).map(({ uid }) => uid);
  }

  #inRange(range: string): readonly Kept[] {
    const last = this.mails.at(-1)?.uid ?? 0;
    return this.mails.filter(({ uid }) =>
      range.split(',').some((piece) => {
        const [from, to = from] = piece.split(':').map((end) => (end === '*' ? last : Number(end)));
        const [low, high] = [Math.min(from ?? 0, to ?? 0), Math.max(from ?? 0, to ?? 0)];
        return uid >= low && uid <= high;
      }),
    );
  }

  /** Returns false where the line was cut. */
  #fetch(socket: Socket, word: string): boolean {
    const [, isUid, range = '', items = ''] = /^(UID )?FETCH (\S+) \(?(.*?)\)?$/.exec(word) ?? [];
    const mails = isUid === undefined ? this.mails : this.#inRange(range);
    for (const mail of mails) {
      const out: (string | Buffer)[] = [`UID ${mail.uid}`];
      if (items.includes('RFC822.SIZE')) out.push(`RFC822.SIZE ${mail.size}`);
      if (items.includes('INTERNALDATE')) out.push(`INTERNALDATE "${imapDate(new Date())}"`);
      if (items.includes('FLAGS')) out.push(`FLAGS (${[...mail.flags].join(' ')})`);
      if (items.includes('BODYSTRUCTURE')) out.push(`BODYSTRUCTURE ${mail.structure}`);
      for (const [, part = '', from, count] of items.matchAll(
        /BODY(?:\.PEEK)?\[([^\]]*)\](?:<(\d+)\.(\d+)>)?/g,
      )) {
        const whole = part === '' ? mail.source : partOf(mail.source, part);
        const piece =
          from === undefined ? whole : whole.subarray(Number(from), Number(from) + Number(count));
        const start = from === undefined ? '' : `<${from}>`;
        out.push(
          Buffer.concat([Buffer.from(`BODY[${part}]${start} {${piece.length}}\r\n`), piece]),
        );
      }
      const line = Buffer.concat([
        Buffer.from(`* ${this.mails.indexOf(mail) + 1} FETCH (`),
        ...out.flatMap((one, at) => [Buffer.from(at === 0 ? '' : ' '), Buffer.from(one)]),
        Buffer.from(')\r\n'),
      ]);
      if (this.cutsFetch) {
        this.cutsFetch = false;
        socket.write(line.subarray(0, Math.floor(line.length * 0.7)));
        setImmediate(() => socket.destroy());
        return false;
      }
      socket.write(line);
    }
    return true;
  }

  #speakSmtp(socket: TLSSocket): void {
    let from = '';
    let to: string[] = [];
    let data: string[] | null = null;
    let isIn = false;
    const say = (line: string) => socket.write(`${line}\r\n`);
    say('220 mail.example.org ready');
    eachLine(socket, (line) => {
      if (data !== null) {
        if (line !== '.') return void data.push(line.replace(/^\./, ''));
        const answer = this.nextAnswer;
        this.nextAnswer = undefined;
        const source = data.join('\r\n');
        data = null;
        if (typeof answer === 'string') return void say(answer);
        this.posted.push({ from, to, source });
        if (answer === null) return void socket.destroy();
        return void say('250 taken');
      }
      const [word = ''] = line.toUpperCase().split(/[ :]/, 1);
      if (word === 'EHLO')
        socket.write('250-mail.example.org\r\n250-8BITMIME\r\n250 AUTH PLAIN\r\n');
      else if (word === 'AUTH') {
        const [, , password] = Buffer.from(line.slice('AUTH PLAIN '.length), 'base64')
          .toString()
          .split('\0');
        isIn = password === this.password;
        say(isIn ? '235 welcome' : '535 5.7.8 no');
      } else if (!isIn && word !== 'QUIT') say('530 5.7.0 who are you?');
      else if (word === 'MAIL') {
        from = /<([^>]*)>/.exec(line)?.[1] ?? '';
        to = [];
        say('250 ok');
      } else if (word === 'RCPT') {
        const address = /<([^>]*)>/.exec(line)?.[1] ?? '';
        if (this.refusedRecipients.has(address)) return void say('550 5.1.1 no such mailbox');
        to.push(address);
        say('250 ok');
      } else if (word === 'DATA') {
        data = [];
        say('354 go on');
      } else if (word === 'QUIT') {
        say('221 bye');
        socket.end();
      } else say('250 ok');
    });
    socket.on('error', () => {});
  }
}

/** Returns the body of a part, for mails whose parts are between lines `--b`. */
function partOf(source: Buffer, part: string): Buffer {
  const [whole = ''] = part.split('.', 1);
  const pieces = source.toString('latin1').split(/\r\n--b(?:--)?\r\n/);
  const piece = pieces[Number(whole)] ?? source.toString('latin1');
  const end = piece.indexOf('\r\n\r\n') + 2;
  if (part.endsWith('MIME') || part.endsWith('HEADER'))
    return Buffer.from(piece.slice(0, end + 2), 'latin1');
  return Buffer.from(piece.slice(end + 2), 'latin1');
}

function eachLine(socket: Socket, take: (line: string) => void): void {
  let rest = '';
  socket.on('data', (chunk) => {
    const lines = (rest + chunk.toString('utf8')).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  });
}

function imapDate(date: Date): string {
  const [, day, month, year, time] =
    /^\w+, (\d+) (\w+) (\d+) ([\d:]+)/.exec(date.toUTCString()) ?? [];
  return `${day}-${month}-${year} ${time} +0000`;
}
