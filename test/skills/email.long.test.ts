import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { connect, createServer as createTlsServer } from 'node:tls';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { CA, CERTIFICATE, KEY } from '../../src/testing/channel/loopback-certificate.ts';
import { describeWithEngine } from '../../src/testing/engine.ts';
import { freePort } from '../../src/testing/free-port.ts';
import {
  type AnthropicScript,
  type AnthropicServer,
  lastUserText,
  startAnthropicServer,
} from '../../src/testing/model/anthropic.ts';
import { Assistant } from '../story/assistant.ts';
import { type Clone, cloneWithoutProof } from '../story/clone.ts';

// Debian's opensmtpd and dovecot are the provider. `.ci/run` installs them.
const PROGRAMS = ['/usr/sbin/smtpd', '/usr/sbin/dovecot', '/usr/lib/dovecot/lmtp'];
const MISSING = PROGRAMS.filter((path) => !existsSync(path));
const MINUTES = 20 * 60_000;
const PASSWORD = 'a-word-of-its-own';
const ANDY = 'andy@example.org';
const ADA = 'ada@example.org';
const SIGNER = 'mx.example.org';
const BURST = 30;

const repeat: AnthropicScript = (request) => {
  const said = lastUserText(request);
  const line = said.split('\n').at(-1) ?? '';
  const heard = said.match(/burst \d+/g)?.join('\n') ?? line.replace(/^\[[^\]]*\] [^:]*: /, '');
  return [{ type: 'text', text: `Heard: ${heard}` }];
};

const until = (isSo: () => void) => vi.waitFor(isSo, { timeout: 180_000, interval: 50 });

/** The provider's configuration: mail of all addresses lies in one folder each, and belongs to `nobody`. */
function configure(folder: string, ports: { readonly imap: number; readonly plain: number }): void {
  const file = (name: string) => join(folder, name);
  chmodSync(folder, 0o755);
  for (const name of ['run', 'state', 'mail']) mkdirSync(file(name));
  chmodSync(file('mail'), 0o777);
  writeFileSync(
    file('dovecot.conf'),
    `base_dir = ${file('run')}
state_dir = ${file('state')}
log_path = ${file('dovecot.log')}
protocols = imap lmtp
listen = 127.0.0.1
ssl = required
ssl_cert = <${file('cert.pem')}
ssl_key = <${file('key.pem')}
disable_plaintext_auth = yes
recipient_delimiter = +
mail_location = maildir:~/Maildir
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=${file('mail')}/%u allow_all_users=yes
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = ${ports.imap}
  }
}
service lmtp {
  unix_listener ${file('lmtp.sock')} {
    mode = 0666
  }
}
`,
  );
  writeFileSync(
    file('smtpd.conf'),
    `table everybody { "@" = "nobody" }
listen on 127.0.0.1 port ${ports.plain}
action "keep" lmtp "${file('lmtp.sock')}" rcpt-to virtual <everybody>
match from any for any action "keep"
`,
  );
}

/**
 * TLS and the login in front of opensmtpd, whose own TLS does not work with Debian's OpenSSL 3: its process with the key
 * fails to sign. After the login every byte is opensmtpd's.
 */
function listenInFront(plain: number, tls: { readonly key: string; readonly cert: string }) {
  return createTlsServer(tls, (client) => {
    client.on('error', () => {}).write('220 mail.example.org\r\n');
    client.on('data', function greet(chunk: Buffer) {
      const line = chunk.toString();
      const [, , password] = Buffer.from(line.slice('AUTH PLAIN '.length), 'base64')
        .toString()
        .split('\0');
      if (/^EHLO/i.test(line)) client.write('250-mail.example.org\r\n250 AUTH PLAIN\r\n');
      else if (password !== PASSWORD) client.write('535 no\r\n');
      else {
        client.off('data', greet);
        const server = connectPlain(plain, '127.0.0.1').on('error', () => client.destroy());
        let said = '';
        server.on('data', function ready(answer: Buffer) {
          said += answer.toString();
          if (/^220 [^\r]*\r\n$/.test(said)) server.write('EHLO front\r\n');
          if (!/^250 .*\r\n$/m.test(said)) return;
          server.off('data', ready);
          client.write('235 welcome\r\n');
          client.pipe(server).pipe(client);
        });
      }
    });
  });
}

/** Sends a mail of Ada's, with what a receiving server would have found out about her. */
async function sendMail(
  port: number,
  ca: string,
  { to = ANDY, text, headers = [] }: { to?: string; text: string; headers?: readonly string[] },
): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1', ca, checkServerIdentity: () => undefined });
  let said = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  const next = async (line: string | null, code: string) => {
    if (line !== null) {
      said = '';
      socket.write(`${line}\r\n`);
    }
    await until(() => expect(said).toMatch(new RegExp(`^${code} `, 'm')));
  };
  await next(null, '220');
  await next('EHLO ada', '250');
  const login = Buffer.from(`\0${ADA}\0${PASSWORD}`).toString('base64');
  await next(`AUTH PLAIN ${login}`, '235');
  await next(`MAIL FROM:<${ADA}>`, '250');
  await next(`RCPT TO:<${to}>`, '250');
  await next('DATA', '354');
  const results = `Authentication-Results: ${SIGNER}; dmarc=pass header.from=example.org`;
  const all = [results, `From: Ada <${ADA}>`, `To: ${to}`, ...headers, '', text, '.'];
  await next(all.join('\r\n'), '250');
  socket.end('QUIT\r\n');
}

if (MISSING.length > 0 && process.env['CLAW_REQUIRE_ENGINE'] === '1') {
  test('has its provider', () => expect(MISSING).toEqual([]));
}

await describeWithEngine('bubblewrap', 'mail through opensmtpd and dovecot', () => {
  let folder: string;
  let model: AnthropicServer;
  let clone: Clone;
  let assistant: Assistant;
  let ca: string;
  let smtp: number;
  const ends: (() => void)[] = [];
  const file = (name: string) => join(folder, name);
  const start = (name: string, ...args: readonly string[]) => {
    const child = spawn(name, args, { stdio: 'ignore' });
    ends.push(() => child.kill());
  };
  /** Ada's mailbox. */
  const answers = (): readonly string[] => {
    const box = file(`mail/${ADA}/Maildir`);
    return ['new', 'cur'].flatMap((name) => {
      const path = join(box, name);
      return existsSync(path)
        ? readdirSync(path).map((one) => readFileSync(join(path, one), 'utf8'))
        : [];
    });
  };
  const send = (mail: Parameters<typeof sendMail>[2]) => sendMail(smtp, ca, mail);

  beforeAll(async () => {
    folder = mkdtempSync('/tmp/claw-email-');
    const imap = await freePort();
    smtp = await freePort();
    const plain = await freePort();
    ca = CA;
    for (const [name, text] of [
      ['ca.pem', ca],
      ['cert.pem', CERTIFICATE],
      ['key.pem', KEY],
    ] as const) {
      writeFileSync(file(name), text, { mode: name === 'key.pem' ? 0o600 : 0o644 });
    }
    configure(folder, { imap, plain });
    const front = listenInFront(plain, { key: KEY, cert: CERTIFICATE });
    ends.push(() => front.close());
    await new Promise<void>((done) => front.listen(smtp, '127.0.0.1', done));
    start('/usr/sbin/dovecot', '-F', '-c', file('dovecot.conf'));
    start('/usr/sbin/smtpd', '-d', '-f', file('smtpd.conf'));
    await until(() => expect(existsSync(file('lmtp.sock'))).toBe(true));
    model = await startAnthropicServer(repeat);
    clone = cloneWithoutProof({
      ANTHROPIC_API_KEY: 'sk-ant-test',
      ANTHROPIC_BASE_URL: model.url,
      CLAW_SANDBOX: 'bubblewrap',
      EMAIL_ADDRESS: ANDY,
      EMAIL_PASSWORD: PASSWORD,
      EMAIL_IMAP: `127.0.0.1:${imap}`,
      EMAIL_SMTP: `127.0.0.1:${smtp}`,
      EMAIL_CA_FILE: file('ca.pem'),
      EMAIL_ALLOW_FROM: ADA,
      EMAIL_AUTHSERV_ID: SIGNER,
    });
    const run = await clone.claw('apply', 'email');
    expect(run).toMatchObject({ code: 0, json: { outcome: 'done' } });
    assistant = await Assistant.start(clone);
  }, MINUTES);

  afterAll(async () => {
    await assistant?.stop();
    for (const end of ends) end();
    await clone?.[Symbol.asyncDispose]();
    await model?.close();
    rmSync(folder, { recursive: true, force: true });
  }, MINUTES);

  test(
    'a mail is answered in its thread, as it is told by IDLE',
    async () => {
      await send({
        text: 'is it hot?',
        headers: ['Message-ID: <one@example.org>', 'Subject: Weather'],
      });
      await until(() => expect(answers()).toHaveLength(1));
      const [answer = ''] = answers();
      for (const line of [
        'In-Reply-To: <one@example.org>',
        'Subject: Re: Weather',
        'Auto-Submitted: auto-replied',
      ]) {
        expect(answer).toContain(line);
      }
      expect(answer).toContain('is it hot?');
    },
    MINUTES,
  );

  test(
    'an auto-reply is not answered; a plus-address is a chat of its own',
    async () => {
      await send({
        text: 'I am away',
        headers: ['Auto-Submitted: auto-replied', 'Message-ID: <two@example.org>'],
      });
      const toFamily = { to: 'andy+family@example.org' };
      await send({ ...toFamily, text: 'hello', headers: ['Message-ID: <three@example.org>'] });
      await vi.waitFor(async () => expect(await assistant.ask('/groups')).toContain('family'), {
        timeout: 180_000,
        interval: 100,
      });
      await assistant.ask('/register family as family');
      await send({
        ...toFamily,
        text: 'Andy, lunch?',
        headers: ['Message-ID: <four@example.org>'],
      });
      await until(() => expect(storedIn('email:+family')).toContain('Andy, lunch?'));
      await until(() =>
        expect(answers().join('\n')).toMatch(/^From: Andy <andy\+family@example\.org>/m),
      );
      expect(storedIn(`email:${ADA}`).join()).not.toContain('I am away');
    },
    MINUTES,
  );

  function storedIn(jid: string): readonly unknown[] {
    const database = new Database(clone.path('data/claw.db'), { readonly: true });
    try {
      return database
        .prepare('SELECT text FROM messages WHERE jid = ? ORDER BY seq')
        .pluck()
        .all(jid);
    } finally {
      database.close();
    }
  }

  test(
    'mail is stored once each, where the assistant is killed in the middle of it',
    async () => {
      const texts = Array.from({ length: BURST }, (_, at) => `burst ${at}`);
      const stored = () =>
        storedIn(`email:${ADA}`).filter((text) => String(text).startsWith('burst'));
      for (const [at, text] of texts.entries()) {
        await send({ text, headers: [`Message-ID: <burst-${at}@example.org>`] });
        if (at === BURST / 2) await assistant.kill();
      }
      assistant = await Assistant.start(clone);
      await until(() => expect(stored()).toHaveLength(BURST));
      expect(stored().toSorted()).toEqual(texts.toSorted());
      // Which of them one answer is for, and in what order the server delivered them, is left open.
      await until(() => {
        const heard = new Set(
          answers()
            .join()
            .match(/burst \d+/g),
        );
        expect([...heard].toSorted()).toEqual(texts.toSorted());
      });
      const ids = answers().map((mail) => /^Message-ID: (.*)$/im.exec(mail)?.[1]);
      // SMTP knows no repeated mail: the one that the server took when the assistant was killed may come again, under
      // the same Message-ID, by which mail programs show it once.
      expect(ids.length - new Set(ids).size).toBeLessThanOrEqual(1);
    },
    MINUTES,
  );
});
