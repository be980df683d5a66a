-- ON ONLY locks the log for a moment and builds nothing. Partitions that are made from now on have the index from the
-- start; src/db/log-indexes.ts builds it on older ones while they are written to.
CREATE INDEX "security_log_license_id_id_idx" ON ONLY "security_log"("license_id", "id");

-- This partition is all but empty, always.
CREATE INDEX "security_log_default_license_id_id_idx" ON "security_log_default"("license_id", "id");
ALTER INDEX "security_log_license_id_id_idx" ATTACH PARTITION "security_log_default_license_id_id_idx";
