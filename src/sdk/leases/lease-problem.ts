/**
 * Why a lease does not stand in for an answer.
 *
 * | problem | cause |
 * |---|---|
 * | `none` | there is no lease for this license key and device, or the service has refused the license since |
 * | `expired` | the lease has ended |
 * | `used-up` | the program has run for longer than the lease, whatever the clock says |
 * | `clock-set-back` | the clock is more than an hour before a time that has been reached |
 * | `revoked` | a revocation list names the license |
 * | `revocations-missing` | the newest revocation list is gone from the store |
 * | `not-requested` | an imported lease does not answer a request of this device, or one that was answered before |
 * | `superseded` | the lease is older than another one that this program has seen |
 * | `not-stored` | the store has not taken the record of this use, without which nothing would bound the lease |
 * | `invalid` | it is not a lease for this application and device that the application has signed |
 */
export type LeaseProblem =
  | 'none'
  | 'expired'
  | 'used-up'
  | 'clock-set-back'
  | 'revoked'
  | 'revocations-missing'
  | 'not-requested'
  | 'superseded'
  | 'not-stored'
  | 'invalid';
