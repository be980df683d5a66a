import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clientPaths } from '../../src/protocol/constants.ts';
import * as messages from '../../src/protocol/messages.ts';

const spec = readFileSync(new URL('../../src/protocol/SPEC.md', import.meta.url), 'utf8');

/** A numbered section, with its heading. */
const section = (number: number): string =>
  spec.split(/^(?=## )/m).find((text) => text.startsWith(`## ${number}. `)) ?? expect.fail();

describe('SPEC.md of version 1', () => {
  it('has the path and the name of every call', () => {
    for (const [call, path] of Object.entries(clientPaths)) {
      if (call === 'sessionInit') expect(section(3)).toContain(`POST ${path}`);
      else expect(section(6)).toMatch(new RegExp(`^\\| \`${path}\` +\\| \`${call}\` +\\|`, 'm'));
    }
  });

  it('describes every member of every request', () => {
    const requests = [
      messages.innerValidateRequest,
      messages.innerRegisterRequest,
      messages.innerLoginRequest,
      messages.innerUpgradeRequest,
      messages.innerListDevicesRequest,
      messages.innerReleaseDeviceRequest,
      messages.innerMoveDeviceRequest,
    ];
    for (const name of requests.flatMap(({ shape }) => Object.keys(shape))) {
      expect(section(6).includes(`\`${name}\``), name).toBe(true);
    }
  });

  it('describes every member of every answer', () => {
    const { signedIn, devicesListed } = messages;
    const answers = [
      messages.validateSuccess,
      messages.validateFailure,
      messages.clientAuthSuccess,
      messages.clientAuthFailure,
      signedIn.shape.user,
      signedIn.shape.license.unwrap(),
      signedIn.shape.session,
      devicesListed,
      devicesListed.shape.devices.element,
      messages.deviceReleased,
      messages.deviceMoved,
    ];
    for (const name of answers.flatMap(({ shape }) => Object.keys(shape))) {
      expect(section(7).includes(`\`${name}\``), name).toBe(true);
    }
  });

  it('describes every code, and the HTTP statuses of plaintext ones', () => {
    for (const code of messages.verdictCodes)
      expect(section(10)).toMatch(new RegExp(`^\\| ${code} +\\|`, 'm'));
    for (const [code, status] of Object.entries(messages.plaintextErrorStatus)) {
      expect(section(11)).toMatch(new RegExp(`^\\| ${code} +\\| ${status} +\\|`, 'm'));
    }
  });
});
