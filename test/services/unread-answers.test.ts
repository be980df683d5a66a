import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import { createUnreadAnswers } from '../../src/services/unread-answers.ts';

const limits = { ofDeveloper: 100, ofNetwork: 300, inAll: 1_000, whenFull: 10 };

/** A response of which this many bytes are unread. */
class Unread extends EventEmitter {
  destroyed = false;
  readonly writableLength: number;
  constructor(writableLength: number) {
    super();
    this.writableLength = writableLength;
  }
  close(): void {
    this.destroyed = true;
    this.emit('close');
  }
}

const follow = (
  answers: ReturnType<typeof createUnreadAnswers>,
  developer: string,
  network: string,
  bytes: number,
) => {
  const answer = new Unread(bytes);
  answers.follow(network, answer);
  answers.follow(developer, answer);
  return answer;
};

test('unread responses of one developer block further reads of that developer only', () => {
  const answers = createUnreadAnswers(limits);
  const answer = follow(answers, 'ada', 'here', 101);
  expect(() => answers.checkRoom('ada', 'here')).toThrow('this account');
  expect(() => answers.checkRoom('bob', 'here')).not.toThrow();
  answer.close();
  expect(() => answers.checkRoom('ada', 'here')).not.toThrow();
});

test('the accounts of one network share a limit', () => {
  const answers = createUnreadAnswers(limits);
  for (const name of ['a', 'b', 'c', 'd']) follow(answers, name, 'here', 90);
  follow(answers, 'e', 'here', 11);
  expect(() => answers.checkRoom('e', 'here')).toThrow('this network');
  expect(() => answers.checkRoom('e', 'there')).not.toThrow();
});

test('an account that reads is served, even if others in its network do not read', () => {
  const answers = createUnreadAnswers(limits);
  for (const name of ['a', 'b', 'c', 'd']) follow(answers, name, 'here', 90);
  expect(() => answers.checkRoom('neighbour', 'here')).not.toThrow();
  follow(answers, 'neighbour', 'here', 5);
  expect(() => answers.checkRoom('neighbour', 'here')).not.toThrow();
});

test('if much is unread in total, accounts that read are served', () => {
  const answers = createUnreadAnswers(limits);
  for (let number = 0; number < 12; number += 1) follow(answers, `${number}`, `${number}`, 90);
  expect(() => answers.checkRoom('3', '3')).toThrow('this account');
  follow(answers, 'ada', 'here', 5);
  expect(() => answers.checkRoom('ada', 'here')).not.toThrow();
});

test('a response that has already ended is not counted', () => {
  const answers = createUnreadAnswers(limits);
  const answer = new Unread(1_000);
  answer.close();
  answers.follow('ada', answer);
  expect(() => answers.checkRoom('ada', 'here')).not.toThrow();
});
