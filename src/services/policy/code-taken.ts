import { isUniqueViolation } from '../../db/errors.ts';
import { ServiceError } from '../errors.ts';

/**
 * The result of a change, where a code that another policy of the application has is an error for the caller.
 * @throws {ServiceError} POLICY_CODE_TAKEN
 */
export async function orCodeTaken<Result>(change: Promise<Result>): Promise<Result> {
  try {
    return await change;
  } catch (error) {
    if (!isUniqueViolation(error, 'code')) throw error;
    throw new ServiceError(
      'POLICY_CODE_TAKEN',
      'Another policy of this application has this code. Choose another one, or change that policy.',
    );
  }
}
