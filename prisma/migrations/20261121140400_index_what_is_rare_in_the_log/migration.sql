-- Refusals, and what is no validation, are few among validations that succeed: a page of them is not to walk over
-- these. ON ONLY locks the log for a moment and builds nothing; src/db/log-indexes.ts builds the older partitions' own.
CREATE INDEX "security_log_refused_idx" ON ONLY "security_log"("application_id", "id") WHERE "code" <> 'OK';
CREATE INDEX "security_log_unusual_idx" ON ONLY "security_log"("application_id", "id") WHERE "event" <> 'license_validated';

-- This partition is all but empty, always.
CREATE INDEX "security_log_default_refused_idx" ON "security_log_default"("application_id", "id") WHERE "code" <> 'OK';
ALTER INDEX "security_log_refused_idx" ATTACH PARTITION "security_log_default_refused_idx";
CREATE INDEX "security_log_default_unusual_idx" ON "security_log_default"("application_id", "id") WHERE "event" <> 'license_validated';
ALTER INDEX "security_log_unusual_idx" ATTACH PARTITION "security_log_default_unusual_idx";
